internal import ArgumentParser
internal import PickerSync
internal import SyncCore

/// `pickerctl wait`: returns when it holds.
struct WaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until fields have values; at once if they do.",
        discussion: "FIELD=VALUE or FIELD!=VALUE; all of them must hold together.")

    @OptionGroup var common: CommonOptions
    @Argument(
        help: ArgumentHelp("What to wait for.", valueName: "field=value"),
        completion: .custom { words, _, _ in Completion.assignments(words) })
    var conditions: [String]
    @Option(help: ArgumentHelp("Give up after so many seconds, with 124.", valueName: "seconds"))
    var timeout: Double?

    func run() throws {
        let started = MonotonicClock.now()
        let session = Session(common.settings)
        let form = try session.form(named: conditions.map(FieldCondition.form))
        let outline = try session.outline(form)
        var conditions: [FieldCondition] = []
        for text in self.conditions {
            conditions.append(try FieldCondition(text, outline, session))
        }
        let names = conditions.map(\.field)
        session.client.subscribe(StateSubscribe(form: form, fields: names))
        let deadline = timeout.map { started.adding(seconds: $0) }
        while true {
            switch try session.wait(until: deadline) {
            case .deadline: throw Failure.silent(.timedOut)
            case .readable: continue
            case .event(.subscriptionRefused(_, let error)): throw Failure(error)
            case .event(.formChanged(let change)) where change.content == .deleted:
                throw Failure(.noInput, "form \(form) was deleted; there is nothing to wait for")
            case .event:
                let fields = session.client.fields(of: form)
                if !fields.isEmpty, conditions.allSatisfy({ $0.holds(in: fields) }) { return }
            }
        }
    }
}

extension Session {
    /// Sleeps until something happens.
    func wait(
        until deadline: UInt64? = nil, also descriptors: [Int32] = []
    ) throws(Failure) -> BlockingClient.Wake {
        do throws(ClientFailure) {
            return try client.wait(until: deadline, also: descriptors)
        } catch {
            throw Failure(error)
        }
    }
}
