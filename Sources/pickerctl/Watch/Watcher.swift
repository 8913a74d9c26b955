// The watch itself: notifications in, lines or children out.
//
// A subscription that comes back after the daemon was away goes on where it was; where the log has
// no continuation, what differs from what was shown is shown once, as one folded change a field.
// So a watcher prints every change that the daemon can still tell of, once, in order.

internal import Glibc
internal import PickerClient
internal import SyncCore

/// One run of `pickerctl watch`.
final class Watcher {
    private let session: Session
    private let options: WatchOptions
    /// When `--timeout` is over (monotonic nanoseconds).
    private let ends: UInt64?
    /// The names and patterns of the fields; none for the whole form.
    private let fields: [String]
    private let globs: [Glob]
    private let form: String
    private var until: AwaitedConditions?
    /// `--until` came to hold: what follows is nobody's business any more.
    private var hasHeld: Bool { until?.hasHeld ?? false }
    /// Labels hold nothing of their own: a watch of everything leaves them out, and one that names
    /// a label is told its text.
    private var labels: [String]
    private var labelTexts: LabelTexts?
    private var shownTexts: [String: String] = [:]
    private var debouncer: Debouncer
    private var queue: ExecQueue
    private var child: (process: ChildProcess, change: WatchedChange)?
    private var signals: SignalPipe?
    private var shown = 0
    private var lastRevision: Revision?
    private var hasBegun = false
    private var isLost = false

    /// Seconds that a child has between SIGTERM and SIGKILL.
    private static let graceSeconds = 2.0

    init(_ session: Session, _ options: WatchOptions, until ends: UInt64?) throws(Failure) {
        self.session = session
        self.options = options
        self.ends = ends
        if let until = options.until, FieldCondition.parts(until) == nil {
            throw .notAssignment([until], verb: "watch --until")
        }
        var (form, names) = try Self.place(options, session)
        var outline = try session.outline(form)
        if let name = names.first, name.isBare, outline[name.field] == nil,
            let whole = try session.wholeForm(options.fields)
        {
            (form, names) = try session.place(of: [whole])
            outline = try session.outline(form)
        }
        self.form = form
        fields = names.map(\.field)
        globs = fields.map { Glob($0) }
        for id in globs.compactMap(\.literal) { _ = try session.field(id, in: outline) }
        until =
            if let text = options.until {
                AwaitedConditions([try FieldCondition(text, outline, session)])
            } else {
                nil
            }
        let ids = Self.labels(outline)
        labels = ids
        labelTexts = names.contains { ids.contains($0.field) } ? LabelTexts(outline.json) : nil
        debouncer = Debouncer(span: (0 as UInt64).adding(seconds: options.debounceSeconds))
        queue = ExecQueue(keepsLatest: options.keepsLatest)
    }

    /// The form, and the fields in it: `--until` may name the form as well.
    private static func place(
        _ options: WatchOptions, _ session: Session
    ) throws(Failure) -> (form: String, fields: [FieldName]) {
        guard let until = options.until else { return try session.place(of: options.fields) }
        let names = options.fields.map { FieldName($0) }
        let form = try session.form(named: names.map(\.form) + [FieldCondition.form(until)])
        return (form, try Session.fields(of: names))
    }

    private static func labels(_ outline: FormOutline) -> [String] {
        outline.fields.filter { $0.kind == .label }.map(\.id)
    }

    /// Watches until a count, a condition, a time or a signal ends it.
    func run() throws(Failure) {
        if options.command != nil {
            signals = SignalPipe([SIGINT, SIGTERM, SIGHUP, SIGCHLD])
        }
        defer { child?.process.end(graceSeconds: Self.graceSeconds) }
        try subscribe()
        while !isDone {
            let end = hasBegun ? ends : session.client.deadline
            let deadline = [end, debouncer.deadline].compactMap(\.self).min()
            let wake = try nextWake(until: deadline)
            switch wake {
            case .event(let event): try handle(event)
            case .readable(let descriptor): try readable(descriptor)
            case .deadline: break
            }
            let now = MonotonicClock.now()
            for change in debouncer.due(at: now) { try show(change) }
            try session.console.flush()
            if isDone { return }
            if let end, now >= end { throw .silent(.timedOut) }
        }
    }

    private var isDone: Bool {
        if child != nil { return false }
        if let count = options.count, shown >= count { return true }
        return hasHeld && debouncer.deadline == nil
    }

    private func subscribe() throws(Failure) {
        let filter =
            fields.isEmpty || until != nil || labelTexts != nil ? nil : fields
        var since: StateSubscribe.Since?
        if let revision = options.since {
            let log = try session.definition(form).log
            since = StateSubscribe.Since(log: log, revision: revision)
            lastRevision = revision
        }
        session.client.subscribe(StateSubscribe(form: form, fields: filter, since: since))
    }

    /// A full queue leaves the socket alone: the child's end is what is waited for then.
    private func nextWake(until deadline: UInt64?) throws(Failure) -> BlockingClient.Wake {
        let descriptors = signals.map { [$0.descriptor] } ?? []
        guard queue.isFull, let signals else {
            // A child writes for itself; lines of ours are for a reader, who may go.
            return try session.wait(
                until: deadline, also: descriptors,
                hangUp: options.command == nil ? STDOUT_FILENO : nil)
        }
        var entry = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
        let now = MonotonicClock.now()
        poll(&entry, 1, min(1_000, deadline.map { $0.pollMilliseconds(since: now) } ?? .max))
        return entry.revents == 0 ? .deadline : .readable(signals.descriptor)
    }

    // MARK: Events

    private func handle(_ event: ClientEvent) throws(Failure) {
        if hasHeld { return }
        defer { until?.saw(event, form) }
        switch event {
        case .snapshot(let result, let previous): try began(result, previous)
        case .resumed: returned()
        case .subscriptionRefused(_, let error): throw Failure(error)
        case .changed(let change):
            guard change.form == form else { return }
            try offer(change.changes, change.revision, change.coalescedFrom)
        case .formChanged(let change):
            guard change.form == form else { return }
            switch change.content {
            case .deleted:
                throw .formDeleted(form)
            case .defined(let content):
                labels = Self.labels(FormOutline(content.definition))
                if labelTexts != nil { labelTexts = LabelTexts(content.definition) }
                try showDefinition(content.version, change.revision)
                try offer(content.changes, change.revision, content.coalescedFrom)
            }
        case .disconnected:
            if !isLost { session.console.note("connection lost; waiting for the daemon") }
            isLost = true
        case .answered, .presence, .assigned, .cancelled, .progress, .proposal, .forms, .goodbye,
            .greeted, .incompatible, .violation:
            break
        }
    }

    private func returned() {
        hasBegun = true
        if isLost { session.console.note("connected again") }
        isLost = false
    }

    /// The first snapshot, or one instead of a continuation.
    private func began(_ result: SubscribeResult, _ previous: [NamedField]) throws(Failure) {
        returned()
        let from = lastRevision.map { $0 + 1 }
        lastRevision = result.revision
        if previous.isEmpty, !options.showsInitial, options.since == nil { noteTexts() }
        var changes: [FieldChange] = []
        for field in result.fields ?? [] {
            let known = previous[field.id]
            let isNews =
                if let known {
                    known.value != field.state.value || known.conflict != field.state.conflict
                        || known.isSecretSet != field.state.isSecretSet
                } else if let since = options.since {
                    field.state.revision > since
                } else {
                    options.showsInitial
                }
            if isNews {
                changes.append(
                    FieldChange(field: field.id, state: field.state, was: known?.value))
            }
        }
        if options.since != nil, previous.isEmpty {
            let since = options.since ?? 0
            session.console.note(
                since > result.revision
                    ? "revision \(since) does not exist yet: the form is at \(result.revision)"
                    : "the log does not have revision \(since) any more; each field that changed "
                        + "since is reported once")
        }
        // In the order in which the fields changed, as a log would have told it.
        if from != nil { changes.sort { $0.state.revision < $1.state.revision } }
        for change in changes {
            try offer([change], from == nil ? change.state.revision : result.revision, from)
        }
    }

    private func offer(
        _ changes: [FieldChange], _ revision: Revision, _ coalescedFrom: Revision?
    ) throws(Failure) {
        lastRevision = max(revision, lastRevision ?? revision)
        for change in changes where globs.isEmpty || globs.matches(change.field) {
            var change = change
            if labels.contains(change.field) {
                guard let text = rendered(change) else { continue }
                change = text
            }
            let watched = WatchedChange(
                form: form, field: change.field, state: change.state, was: change.was,
                revision: revision, coalescedFrom: coalescedFrom,
                host: session.host)
            for ready in debouncer.offer(watched, at: MonotonicClock.now()) { try show(ready) }
        }
    }

    /// What labels show before the first change of them.
    private func noteTexts() {
        guard let labelTexts else { return }
        let values = LabelTexts.values(session.client.fields(of: form))
        for id in labels { shownTexts[id] = labelTexts.text(of: id, values) }
    }

    /// A label that was named, with its text; `nil` where it shows what it did.
    private func rendered(_ change: FieldChange) -> FieldChange? {
        guard globs.contains(where: { $0.literal?.isSameBytes(as: change.field) ?? false }),
            let text = labelTexts?.text(
                of: change.field, LabelTexts.values(session.client.fields(of: form)))
        else { return nil }
        let was = shownTexts.updateValue(text, forKey: change.field)
        if was == text { return nil }
        var change = change
        change.state.value = .string(text)
        change.was = was.map { .string($0) }
        return change
    }

    // MARK: Showing

    private func show(_ change: WatchedChange) throws(Failure) {
        if let count = options.count, shown >= count { return }
        shown += 1
        guard options.command == nil else {
            if let next = queue.offer(change) { try start(next) }
            return
        }
        switch options.format {
        case .text: try session.console.safeLine(change.text)
        case .json: try session.console.line(change.json)
        case .value: try session.console.value(ValueText.bare(change.state.value))
        }
    }

    private func showDefinition(_ version: Int64, _ revision: Revision) throws(Failure) {
        guard fields.isEmpty, options.command == nil else { return }
        switch options.format {
        case .text:
            try session.console.safeLine("form \(form) version \(version), revision \(revision)")
        case .json:
            let json = JSON.members(
                ("form", .string(form)), ("version", .integer(version)),
                ("revision", .integer(revision)))
            try session.console.line(json.encodedText)
        case .value: break
        }
    }

    // MARK: Children

    private func start(_ change: WatchedChange) throws(Failure) {
        let own = change.environment
        let inherited = inheritedEnvironment().filter { entry in
            !own.contains { entry.hasPrefix($0.name + "=") }
        }
        let process = try ChildProcess.start(
            path: "/bin/sh", ["sh", "-c", options.command ?? ":"],
            environment: inherited + own.map { "\($0.name)=\($0.value)" },
            input: change.json + "\n")
        child = (process, change)
    }

    private func readable(_ descriptor: Int32) throws(Failure) {
        guard let signals, descriptor == signals.descriptor else {
            if options.command == nil { throw .silent(.closedPipe) }
            return
        }
        for signal in signals.take() {
            switch signal {
            case SIGCHLD: try reap()
            case SIGINT: throw .silent(.interrupted)
            case SIGHUP: throw .silent(.hungUp)
            default: throw .silent(.terminated)
            }
        }
    }

    private func reap() throws(Failure) {
        guard let (process, change) = child, let ending = process.ending() else { return }
        child = nil
        if ending != .exited(0) {
            Console.error(
                "the command \(ending.inWords) for \(change.field) at revision \(change.revision); "
                    + "still watching")
        }
        if let next = queue.ended() { try start(next) }
    }
}
