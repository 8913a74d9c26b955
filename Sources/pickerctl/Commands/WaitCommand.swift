internal import ArgumentParser
internal import PickerClient
internal import SyncCore

/// `pickerctl wait`: returns when its conditions are true.
struct WaitCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "wait", abstract: "Wait until fields have values; at once if they do.",
        discussion: """
            FIELD=VALUE or FIELD!=VALUE; all must hold at the same time. A value that the control \
            can never have is refused at once.

            Example: pickerctl wait --timeout 1m state=ready && ./go
            """)

    @OptionGroup var common: CommonOptions
    @Argument(
        help: ArgumentHelp("What to wait for.", valueName: "field=value"),
        completion: .custom(Completion.assignments))
    var conditions: [String]
    @Option(
        help: ArgumentHelp("Give up after this time, with 124.", valueName: "duration"),
        transform: Duration.seconds)
    var timeout: Double?

    var request: WaitRequest {
        WaitRequest(settings: common.settings, timeout: timeout, conditions: conditions)
    }
}

/// The arguments of `pickerctl wait`.
struct WaitRequest: PlainRequest {
    let settings: Settings
    let timeout: Double?
    let conditions: [String]

    func run() throws(Failure) {
        let started = MonotonicClock.now()
        let session = Session(settings)
        let deadline = session.end(after: timeout, since: started)
        for (place, text) in conditions.enumerated() where FieldCondition.parts(text) == nil {
            throw .notAssignment(conditions[place...], verb: "wait")
        }
        let form = try session.form(named: conditions.map(FieldCondition.form))
        let outline = try session.outline(form)
        var conditions: [FieldCondition] = []
        for text in self.conditions {
            conditions.append(try FieldCondition(text, outline, session))
        }
        let names = conditions.map(\.field)
        var awaited = AwaitedConditions(conditions)
        awaited.saw(try session.snapshot(form, names))
        if awaited.hasHeld { return }
        session.client.subscribe(StateSubscribe(form: form, fields: names))
        while true {
            switch try session.wait(until: deadline) {
            case .deadline: throw Failure.silent(.timedOut)
            case .readable: continue
            case .event(.subscriptionRefused(_, let error)): throw Failure(error)
            case .event(.formChanged(let change)) where change.content == .deleted:
                throw .formDeleted(form)
            case .event(let event):
                awaited.saw(event, form)
                if awaited.hasHeld { return }
            }
        }
    }
}

extension WaitRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), timeout: words.seconds("--timeout"),
            conditions: words.names(atLeast: 1))
    }
}
