/// A client like the library's: `ClientMachine` on a socket, which reconnects by itself. The events
/// for its owner are checked, not the frames.

import PickerClient
import SyncCore

/// One client that follows `TortureForm` and may edit it.
public final class MachineClient {
    /// A name for findings.
    public let name: String
    /// The newest revision in an event.
    public private(set) var revision: Int64 = 0
    /// The number of revisions in events after the first snapshot.
    public private(set) var changes = 0
    /// How often it resumed a subscription.
    public private(set) var resumed = 0
    /// Goodbyes.
    public private(set) var goodbyes = 0
    /// Edits that were answered with a result.
    public private(set) var acknowledged: Int64 = 0
    /// Edits that were begun.
    public private(set) var begun: Int64 = 0
    /// Wrong events.
    public private(set) var findings = Findings()
    private let counter: String?
    private let path: String
    private var machine: ClientMachine
    private var socket: StreamSocket?
    private var unsent: ArraySlice<UInt8> = []
    /// Whether it has been given the first snapshot.
    public private(set) var hasBegun = false

    /// A client of the daemon at `path`; with a counter it may edit that.
    public init(name: String, path: String, counter: String?, seed: UInt64) {
        self.name = name
        self.path = path
        self.counter = counter
        machine = ClientMachine(
            ClientMachine.Configuration(client: "torture", keyPrefix: name, seed: seed),
            at: monotonicNanoseconds())
        machine.subscribe(StateSubscribe(form: TortureForm.name))
    }

    /// For poll(2), while there is a connection.
    public var descriptor: Int32? { socket?.number }
    /// Whether bytes wait.
    public var wantsToWrite: Bool { !unsent.isEmpty }
    /// Whether the previous edit was answered.
    public var isSettled: Bool { begun == acknowledged }

    /// Adds one to its counter.
    public func edit() {
        guard let counter else { return }
        begun += 1
        _ = machine.submit(
            .stateSet(
                StateSet(
                    form: TortureForm.name,
                    changes: [Change(field: counter, .increment(DecimalNumber(1)))])))
    }

    /// Connects if it is time, sends and receives.
    public func turn() {
        let now = monotonicNanoseconds()
        if let due = machine.connectDeadline, due <= now {
            if let made = try? StreamSocket.connect(path: path, deadline: now) {
                socket = consume made
                unsent = []
                machine.connectionOpened()
            } else {
                machine.connectFailed(at: now)
            }
        }
        flush()
    }

    /// Receives what has arrived.
    public func received() {
        guard let taken = socket?.receive() else { return }
        let now = monotonicNanoseconds()
        switch taken {
        case .bytes(let bytes): machine.received(bytes, at: now)
        case .wouldBlock: break
        case .closed:
            socket = nil
            machine.connectionLost(at: now)
        }
        while let event = machine.takeEvent() { happened(event) }
        flush()
    }

    private func flush() {
        unsent += machine.takeOutput()
        while !unsent.isEmpty, let sent = socket?.send(unsent) {
            switch sent {
            case .bytes(let count): unsent = unsent.dropFirst(count)
            case .wouldBlock: return
            case .closed: unsent = []
            }
        }
    }

    private func happened(_ event: ClientEvent) {
        switch event {
        case .snapshot(let result, _):
            findings.require(!hasBegun, "\(name): a snapshot after revision \(revision)")
            hasBegun = true
            revision = result.revision
        case .resumed: resumed += 1
        case .changed(let change):
            changes += 1
            let first = change.coalescedFrom ?? change.revision
            findings.require(
                first == revision + 1, "\(name): revision \(first) follows \(revision)")
            revision = change.revision
        case .answered(let tickets, .result): acknowledged += Int64(tickets.count)
        case .answered(_, let outcome): findings.add("\(name): an edit ended as \(outcome)")
        case .goodbye: goodbyes += 1
        case .violation(let reason): findings.add("\(name): \(reason)")
        case .subscriptionRefused(_, let error): findings.add("\(name): \(error)")
        default: break
        }
    }
}
