// The steps of a run.

import EngineTestKit
import SyncCore

/// A form with one control of each kind and each policy.
enum SimulatedForm {
    static func definition(variant: Int) -> JSON {
        let flavors = [
            #"["chocolate","vanilla","strawberry"]"#, #"["vanilla","mint"]"#,
            #"["chocolate","vanilla","strawberry","mint"]"#,
        ][variant % 3]
        let days =
            variant % 2 == 0 ? #"["mon","tue","wed","thu"]"# : #"["mon","thu","fri"]"#
        let note = variant < 4 ? #",{"id":"note","type":"text"}"# : ""
        let text = """
            {"form":"sim","fields":[
            {"id":"flavor","type":"picker","options":\(flavors),
            "default":"vanilla","onConflict":"ask"},
            {"id":"colour","type":"picker","options":["red","green","blue"]},
            {"id":"hue","type":"picker","binds":"colour","options":["red","green","blue"]},
            {"id":"seat","type":"picker","options":["a","b","c"],"onConflict":"first"},
            {"id":"name","type":"text","onConflict":"ask"},
            {"id":"alarm","type":"toggle","onConflict":"trueWins"},
            {"id":"consent","type":"toggle","onConflict":"falseWins"},
            {"id":"both","type":"toggle","sources":["alarm","consent"]},
            {"id":"count","type":"stepper","min":-100000,"max":100000,"default":0},
            {"id":"scoops","type":"stepper","min":0,"max":5,"default":2},
            {"id":"heat","type":"gauge","min":0,"max":100},
            {"id":"days","type":"picker","multiple":true,"options":\(days),"default":["mon"]},
            {"id":"when","type":"wheels","onConflict":"ask","components":[
            {"id":"month","options":["jan","feb","mar"]},{"id":"year","options":["26","27"]}]},
            {"id":"pin","type":"secure"},{"id":"go","type":"button"}\(note)]}
            """
        return (try? JSON(parsing: Array(text.utf8))) ?? .null
    }
}

extension World {
    private func pick<C: Collection>(_ collection: C) -> C.Element? {
        collection.randomElement(using: &random)
    }

    private func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    /// Any client but the first, which must be notified of everything.
    private func somebody(where fits: (SimulatedClient) -> Bool) -> SimulatedClient? {
        pick(clients.dropFirst().filter(fits))
    }

    func perform(_ verb: Step.Verb) throws {
        switch verb {
        case .edit, .burst, .increment, .undo, .redo, .redefine, .setOptions:
            try performEdit(verb)
        case .toggleWatch, .read, .present, .stopReading, .slowDown, .resumeReading, .vanish,
            .comeBack:
            try performOfClient(verb)
        case .hold, .commit, .failCommit, .crash, .restart, .wait, .jumpClock, .holdFetches,
            .breakStore, .mendStore, .audit:
            try performOfDaemon(verb)
        }
    }

    // MARK: - Edits

    private func performEdit(_ verb: Step.Verb) throws {
        guard let client = somebody(where: { $0.connection != nil }) else { return }
        switch verb {
        case .edit: try set(client)
        case .burst:
            for _ in 0..<Int.random(in: 2...6, using: &random) { try set(client) }
        case .increment:
            let amount = DecimalNumber(pick([1, 1, 1, -1, 2, -3, 10]) ?? 1)
            let field = pick(["count", "count", "scoops", "heat"]) ?? "count"
            try edit(client, sights: [nil]) { key in
                .stateSet(
                    StateSet(
                        form: "sim", changes: [Change(field: field, .increment(amount))],
                        idempotencyKey: key))
            }
        case .undo, .redo:
            let field = chance(30) ? pick(["flavor", "count", "days", "when", "alarm"]) : nil
            let scope: StateUndo.Scope = chance(20) ? .anyone : .mine
            try edit(client) { key in
                let params = StateUndo(
                    form: "sim", field: field, scope: scope, idempotencyKey: key)
                return verb == .undo ? .stateUndo(params) : .stateRedo(params)
            }
        case .redefine:
            guard admin.connection != nil else { return }
            let variant = Int.random(in: 0..<6, using: &random)
            try edit(admin) { key in
                .formApply(
                    FormApply(
                        definition: SimulatedForm.definition(variant: variant), idempotencyKey: key)
                )
            }
        default:
            guard admin.connection != nil else { return }
            let options: [JSON] =
                pick([["vanilla", "lime"], ["chocolate", "vanilla", "lime"]]) ?? []
            try edit(admin) { key in
                .formSetOptions(
                    FormSetOptions(
                        form: "sim", field: "flavor", options: options, idempotencyKey: key))
            }
        }
        if chance(70) { try settle() }
    }

    /// One `state.set` with one to three changes and a context that this client keeps.
    private func set(_ client: SimulatedClient) throws {
        var changes: [Change] = []
        for _ in 0..<(pick([1, 1, 1, 2, 3]) ?? 1) {
            guard let change = change() else { continue }
            // If one transaction edits a number or a set of tags twice, undo takes two steps, and
            // others may have made one of them impossible. The oracle does not predict that.
            let kind = oracle.form.control(change.field)?.kind
            let isTwice = changes.contains { $0.field == change.field }
            if isTwice, kind == .counter || kind == .tags { continue }
            changes.append(change)
        }
        guard !changes.isEmpty else { return }
        var context: (token: String, sight: [Glimpse])?
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: context = nil
        case 3..<7: context = client.shown ?? ("", [])
        case 7..<9: context = client.answered ?? ("", [])
        default: context = ("", [])
        }
        var sights: [[Glimpse]?] = changes.map { _ in context?.sight }
        if chance(10), let shown = client.shown {
            changes[0].context = shown.token
            sights[0] = shown.sight
        }
        let isStrict = context != nil && chance(10)
        // The token of the answer continues the request's token, or those of the changes if only
        // they have one.
        let shown = context?.sight ?? sights.compactMap(\.self).first ?? []
        try edit(client, sights: sights, shown: shown) { key in
            .stateSet(
                StateSet(
                    form: "sim", changes: changes, context: context?.token,
                    requireCurrent: isStrict, idempotencyKey: key))
        }
    }

    private func change() -> Change? {
        guard let control = pick(oracle.form.controls) else { return nil }
        let id = control.id
        if chance(8), control.kind != .presses { return Change(field: id, .reset) }
        switch control.kind {
        case .tags:
            let tags = control.options.filter { _ in chance(40) }
            return Change(
                field: id,
                chance(30) ? .value(.array(tags)) : chance(60) ? .add(tags) : .remove(tags))
        case .wheels:
            var rows = JSONObject()
            if chance(60) { rows["month"] = pick(["jan", "feb", "mar"]) }
            if rows.isEmpty || chance(40) { rows["year"] = pick(["26", "27"]) }
            return Change(field: id, .value(.object(rows)))
        case .counter:
            if chance(50) {
                return Change(
                    field: id, .increment(DecimalNumber(Int64.random(in: -2...3, using: &random))))
            }
            return Change(field: id, .value(.integer(Int.random(in: 0...5, using: &random))))
        case .presses: return Change(field: id, .press)
        case .secret:
            let number = Int.random(in: 0..<100, using: &random)
            return Change(field: id, .value(.string("\(Oracle.canary)\(number)")))
        default: break
        }
        if control.type == "toggle" {
            return Change(
                field: id, chance(50) ? .toggle : .value(.bool(Bool.random(using: &random))))
        }
        if control.type == "text" {
            return Change(field: id, .value(.string(pick(["Ada", "Bo", "Cleo", ""]) ?? "")))
        }
        if chance(20) {
            return Change(
                field: id,
                .move(pick(Change.Direction.allCases) ?? .next, wraps: Bool.random(using: &random)))
        }
        guard let tag = pick(control.options) else { return nil }
        return Change(field: id, .value(tag))
    }

    // MARK: - Clients

    private func performOfClient(_ verb: Step.Verb) throws {
        switch verb {
        case .comeBack:
            guard let client = somebody(where: { $0.connection == nil || !$0.unsettled.isEmpty })
            else { return }
            tell("client \(client.number) reconnects")
            try comeBack(client)
            return
        default: break
        }
        guard let client = somebody(where: { $0.connection != nil }),
            let connection = client.connection
        else { return }
        switch verb {
        case .toggleWatch:
            if client.watch != nil, chance(50) {
                tell("client \(client.number) unsubscribes")
                send(client, .stateUnsubscribe(form: "sim"), .other(.stateUnsubscribe))
            } else {
                let globs: [String]? =
                    chance(60)
                    ? nil : pick([["flavor", "count"], ["*o*"], ["both", "hue"], ["days"]])
                let presence = chance(40)
                tell("client \(client.number) subscribes to \(globs ?? ["*"])")
                client.wantsBack = nil
                subscribe(client, globs: globs, presence: presence, since: nil)
            }
        case .read:
            let globs: [String]? = chance(60) ? nil : ["count", "f*"]
            send(client, .stateGet(StateGet(form: "sim", fields: globs)), .state(globs))
            if chance(50) { try settle() }
        case .present:
            guard client.watch?.presence ?? false, client.due.isEmpty else { return }
            let focus = pick(["flavor", "count", nil]) ?? nil
            client.focus = focus
            send(
                client, .presenceUpdate(PresenceUpdate(form: "sim", focus: focus)),
                .other(.presenceUpdate))
            try settle()
        case .stopReading:
            tell("client \(client.number) stops reading")
            host.stopped.insert(connection)
        case .slowDown:
            tell("client \(client.number) reads slowly")
            host.slow.insert(connection)
        case .resumeReading:
            tell("client \(client.number) reads again")
            host.resumeReading(connection)
        default:
            tell("client \(client.number) disconnects")
            try pump()
            host.disconnect(connection)
            client.lost()
        }
    }

    // MARK: - The daemon

    private func performOfDaemon(_ verb: Step.Verb) throws {
        switch verb {
        case .hold: host.holdsCommits = true
        case .commit:
            host.holdsCommits = chance(50)
            host.commit()
            try settle()
        case .failCommit:
            guard host.batchUnderWay != nil else { return }
            let isWritten = chance(40)
            tell("a commit fails, \(isWritten ? "written" : "not written")")
            host.failCommit(isWritten: isWritten)
            try settle()
        case .crash:
            let writes = chance(50)
            let when = host.batchUnderWay == nil ? "" : writes ? " after a commit" : " before one"
            tell("the daemon is killed\(when)")
            try crash(writesBatch: writes)
            host.holdsCommits = chance(50)
            // The commit that the start began ends, unless it is still held.
            if !host.holdsCommits { host.commit() }
        case .restart:
            tell("the daemon is restarted")
            try restart()
        case .wait: host.pass(milliseconds: pick([1, 50, 150, 700, 11_000, 700_000]) ?? 1)
        case .jumpClock:
            host.wallOffset += pick([-3_600_000, 3_600_000, -5, 60_000]) ?? 0
            tell("the clock is off by \(host.wallOffset) ms")
        case .holdFetches:
            // Waiting requests are then done at once, and the first client, which must be notified
            // of each revision, must not fall behind the change log.
            let fallsOff = plan.durability != .commit && plan.limits.changeLogBytesMax < 1 << 20
            if !fallsOff { host.holdsFetches.toggle() }
        case .breakStore:
            tell("the disk is full")
            host.rebuildWorks = false
        case .mendStore: try mend()
        default: try audit()
        }
        if !host.holdsFetches { host.answerFetches() }
        try settle()
    }
}
