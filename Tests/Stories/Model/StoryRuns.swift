// Buttons with `runs`: presses, handlers and outcomes (docs/PROTOCOL.md, Runs).
//
// No time passes for the model: stories have no `timeout`, and all waits are longer than a story.

import SyncCore

/// A press of a button with `runs`.
struct StoryRun {
    /// The number of the press among the writes of its form.
    var write: Int
    var by: StoryAuthor
    var message: JSON?
    /// The values of the form at the press.
    var values: JSON
    var state = "waiting"
    var handler: StoryAuthor?
    var text: String?
    var status: Int64?
    /// The connection that holds it.
    var holder: Int?
    /// Who asked to cancel it.
    var canceller: StoryAuthor?
    /// A handler was there since it was pressed.
    var isAttended = false
    /// Its button is gone: a later button with the same name is another one.
    var isPast = false
    /// Its names, once a client was told of them.
    var press: String?
    var ticket: String?

    var json: JSONObject {
        var object = JSONObject([("by", by.json), ("state", .string(state))])
        object["handler"] = handler?.json
        object["text"] = text.map { .string($0) }
        object["status"] = status.map { .integer($0) }
        return object
    }
}

/// The presses of one button.
struct StoryRuns {
    var waiting: [StoryRun] = []
    var running: [StoryRun] = []
    var last: StoryRun?

    var active: [StoryRun] { running + waiting }

    var json: JSON {
        var object = JSONObject([
            ("waiting", .integer(waiting.count)),
            ("running", .array(running.map { .object($0.json) })),
        ])
        object["last"] = last.map { .object($0.json) }
        return .object(object)
    }

    /// Changes a press that waits or runs.
    mutating func change(_ write: Int, _ body: (inout StoryRun) -> Void) {
        for place in waiting.indices where waiting[place].write == write { body(&waiting[place]) }
        for place in running.indices where running[place].write == write { body(&running[place]) }
    }

    /// Ends a press.
    mutating func end(_ write: Int, as state: String) -> StoryRun? {
        guard var run = active.first(where: { $0.write == write }) else { return nil }
        waiting.removeAll { $0.write == write }
        running.removeAll { $0.write == write }
        run.state = state
        run.holder = nil
        last = run
        return run
    }
}

/// A connection that takes presses.
struct StoryHandler {
    var connection: Int
    var globs: [String]?

    func takes(_ id: String) -> Bool {
        globs?.contains { StoryRules.matches(id, $0) } ?? true
    }
}

extension StoryForm {
    /// A press that was answered, with its button.
    struct Press {
        var field: String
        var write: Int
    }

    /// Refuses a press that its button does not accept now.
    func admitPress(_ control: StoryControl, after pressed: [Press]) throws {
        guard control.runs == "one" else { return }
        let isBusy = !(runs[control.id]?.active ?? []).isEmpty
        if isBusy || pressed.contains(where: { $0.field == control.id }) {
            throw StoryRefusal("busy", form: name, field: control.id)
        }
    }

    /// Adds the presses of a transaction.
    mutating func add(_ presses: [Press], by author: StoryAuthor, _ message: JSON?) {
        let values = JSONObject(
            definition.controls.filter { $0.kind != .secure }.map { ($0.id, shown($0.id).value) })
        for press in presses {
            var button = runs[press.field] ?? StoryRuns()
            if definition.control(press.field)?.runs == "latest" {
                for run in button.waiting {
                    if let run = button.end(run.write, as: "dropped") {
                        ended.append((press.field, run))
                    }
                }
            }
            button.waiting.append(
                StoryRun(
                    write: press.write, by: author, message: message, values: .object(values)))
            runs[press.field] = button
        }
    }

    /// Makes a revision because the runs of a button have changed.
    mutating func reviseRuns(_ id: String, _ run: StoryRun, by author: StoryAuthor) {
        revision += 1
        let order = definition.controls.map(\.id).filter { other in
            definition.control(other)?.kind == .button && definition.targets(other) == [id]
        }
        for one in order { touches[one] = (revision, author) }
        noteRevision(order, run, author)
    }

    /// The handler of a run is away, or back: the newest progress says so.
    mutating func noteAway(_ run: StoryRun, _ id: String, isAway: Bool) {
        var params = progress[run.write]?.last?.objectValue ?? JSONObject([])
        params["form"] = .string(name)
        params["field"] = .string(id)
        params["away"] = isAway ? true : nil
        progress[run.write, default: []].append(.object(params))
    }

    /// The place of a press: its button and what is known of it.
    func run(_ press: String) -> (field: String, run: StoryRun)? {
        for (field, button) in runs {
            if let run = button.active.first(where: { $0.press == press }) { return (field, run) }
        }
        return ended.last { $0.run.press == press }
    }

    /// What clients learn of a press.
    mutating func learn(_ write: Int, _ body: (inout StoryRun) -> Void) {
        for id in runs.keys { runs[id]?.change(write, body) }
        for place in ended.indices where ended[place].run.write == write {
            body(&ended[place].run)
        }
    }
}

extension StoryModel {
    // MARK: - What happens next

    /// Gives presses to handlers, and ends those that nobody handles.
    mutating func serve(_ place: Int) {
        while assign(place) || expire(place) {}
    }

    private func mayHandle(_ connection: Int, _ id: String, _ form: StoryForm) -> Bool {
        guard let user = peers[connection]?.user else { return false }
        return may(user, "handle", form, id) && may(user, "read", form)
    }

    private mutating func assign(_ place: Int) -> Bool {
        let form = forms[place]
        let busy = Set(form.runs.values.flatMap(\.running).compactMap(\.holder))
        var next: (field: String, run: StoryRun, connection: Int)?
        for control in form.definition.controls where control.runs != nil {
            guard let button = form.runs[control.id], button.running.count < 8,
                let run = button.waiting.first, run.write < next?.run.write ?? .max
            else { continue }
            let handler = form.handlers.first {
                !busy.contains($0.connection) && $0.takes(control.id)
                    && mayHandle($0.connection, control.id, form)
            }
            if let handler { next = (control.id, run, handler.connection) }
        }
        guard let (field, run, connection) = next, let peer = peers[connection] else {
            return false
        }
        var running = run
        running.state = "running"
        running.handler = peer.author
        running.holder = connection
        forms[place].runs[field]?.waiting.removeFirst()
        forms[place].runs[field]?.running.append(running)
        forms[place].reviseRuns(field, running, by: peer.author)
        publish(place)
        let notice = StoryWire.notification(
            "button.assigned",
            [
                ("form", .string(form.name)), ("field", .string(field)), ("by", run.by.json),
                ("values", run.values),
            ], run.message)
        peers[connection]?.assigned.append((notice, form.serial, run.write))
        return true
    }

    private mutating func expire(_ place: Int) -> Bool {
        let form = forms[place]
        for control in form.definition.controls where control.runs != nil {
            let isAttended = form.handlers.contains {
                $0.takes(control.id) && mayHandle($0.connection, control.id, form)
            }
            for run in form.runs[control.id]?.waiting ?? [] {
                if isAttended {
                    forms[place].runs[control.id]?.change(run.write) { $0.isAttended = true }
                } else if !run.isAttended, control.waitsFor == nil {
                    let author = StoryAuthor(
                        user: run.by.user, uid: run.by.uid,
                        client: isAnonymous ? nil : "pickersyncd", tty: nil, connection: 0)
                    end(run.write, control.id, place, as: "unhandled", by: author) { _ in }
                    return true
                }
            }
        }
        return false
    }

    /// Ends a press, in a revision of its own.
    mutating func end(
        _ write: Int, _ field: String, _ place: Int, as state: String, by author: StoryAuthor,
        _ body: (inout StoryRun) -> Void
    ) {
        let holder = forms[place].runs[field]?.active.first { $0.write == write }?.holder
        forms[place].runs[field]?.change(write, body)
        guard let run = forms[place].runs[field]?.end(write, as: state) else { return }
        forms[place].ended.append((field, run))
        free(holder, place)
        forms[place].reviseRuns(field, run, by: author)
        publish(place)
    }

    /// A handler is free, behind the others.
    private mutating func free(_ connection: Int?, _ place: Int) {
        guard let at = forms[place].handlers.firstIndex(where: { $0.connection == connection })
        else { return }
        forms[place].handlers.append(forms[place].handlers.remove(at: at))
    }

    /// A new definition is in force.
    mutating func adoptRuns(_ place: Int, before: StoryForm) {
        let kept = Set(forms[place].runs.values.flatMap(\.active).map(\.write))
        for control in before.definition.controls {
            for run in before.runs[control.id]?.active ?? [] where !kept.contains(run.write) {
                var ended = run
                ended.state = "cancelled"
                ended.isPast = true
                forms[place].ended.append((control.id, ended))
                free(run.holder, place)
                if let holder = run.holder {
                    cancel(holder, control.id, forms[place], state: "cancelled")
                }
            }
        }
        serve(place)
    }

    mutating func cancel(
        _ connection: Int, _ field: String, _ form: StoryForm, by author: StoryAuthor? = nil,
        state: String? = nil
    ) {
        var params: [(String, JSON)] = [
            ("form", .string(form.name)), ("field", .string(field)),
        ]
        if let author { params.append(("by", author.json)) }
        if let state { params.append(("state", .string(state))) }
        peers[connection]?.cancelled.append(StoryWire.notification("button.cancelled", params, nil))
    }

    // MARK: - Connections

    /// A connection has ended: its runs have no handler.
    mutating func leaveRuns(_ connection: Int) {
        for place in forms.indices {
            forms[place].handlers.removeAll { $0.connection == connection }
            for id in forms[place].runs.keys {
                for run in forms[place].runs[id]?.running ?? [] where run.holder == connection {
                    forms[place].runs[id]?.change(run.write) { $0.holder = nil }
                    forms[place].noteAway(run, id, isAway: true)
                }
            }
        }
    }

    /// A new daemon knows no handlers and nobody who asked to cancel.
    mutating func forgetHandlers() {
        for place in forms.indices {
            forms[place].handlers = []
            forms[place].progress = [:]
            for id in forms[place].runs.keys {
                for run in forms[place].runs[id]?.running ?? [] {
                    forms[place].noteAway(run, id, isAway: true)
                }
                for run in forms[place].runs[id]?.active ?? [] {
                    forms[place].runs[id]?.change(run.write) {
                        $0.holder = nil
                        $0.canceller = nil
                        $0.isAttended = true
                    }
                }
            }
        }
    }
}
