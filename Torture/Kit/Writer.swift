/// A client that edits, and that sends unanswered edits again with the same idempotency key in the
/// same order.

import SyncCore

/// One writer of `TortureForm`.
public final class Writer: Served {
    private struct Edit {
        let number: Int64
        let params: JSON
    }

    /// The number of its counter and note.
    public let index: Int
    /// The most pending edits.
    public var depth: Int
    /// Whether it starts new edits.
    public var isOpen = true
    /// Edits started, and edits answered with a result.
    public private(set) var begun: Int64 = 0
    /// Edits that were answered with a result.
    public private(set) var acknowledged: Int64 = 0
    /// The newest revision that an answer named.
    public private(set) var revision: Int64 = 0
    /// Answers `unavailable`.
    public private(set) var unavailable = 0
    /// The revision of each edit that was answered with a result, by the edit's number less 1; 0
    /// for others.
    public private(set) var revisions: [Int64] = []
    /// Answers that a later retry contradicted, and unexpected rejections.
    public private(set) var findings = Findings()
    /// Whether an answer is treated as lost, so that the edit is sent again.
    public var loses: (() -> Bool)?
    /// The number of answers treated as lost.
    public private(set) var lost = 0
    /// Its connection, while there is one.
    public private(set) var peer: Peer?
    /// Nothing is sent before this time, so that a daemon that cannot write is not called in a
    /// tight loop.
    private var pausedUntil: UInt64 = 0
    private let prefix: String
    private var waiting: [Edit] = []
    private var underWay: [Int64: Edit] = [:]
    private var order: [Int64] = []

    /// A writer whose keys begin with `prefix`.
    public init(index: Int, depth: Int, prefix: String) {
        self.index = index
        self.depth = depth
        self.prefix = prefix
    }

    /// Whether every started edit was answered.
    public var isSettled: Bool { waiting.isEmpty && underWay.isEmpty }

    /// Continues with a new connection: first unanswered edits, then new ones.
    public func connect(_ peer: Peer?) {
        let unanswered = order.compactMap { underWay[$0] } + waiting
        underWay = [:]
        order = []
        waiting = unanswered
        self.peer = peer
        if peer != nil { pump() }
    }

    /// Sends waiting edits and starts new ones, up to the depth.
    public func pump() {
        guard let peer, monotonicNanoseconds() >= pausedUntil else { return }
        while underWay.count < depth {
            if waiting.isEmpty {
                guard isOpen else { break }
                begun += 1
                waiting.append(edit(begun))
            }
            let edit = waiting.removeFirst()
            let id = peer.nextID()
            underWay[id] = edit
            order.append(id)
            peer.send("state.set", edit.params, id: id)
        }
        peer.flush()
    }

    private func edit(_ number: Int64) -> Edit {
        Edit(
            number: number,
            params: [
                "form": .string(TortureForm.name),
                "changes": [
                    ["field": .string(TortureForm.counter(index)), "increment": 1],
                    [
                        "field": .string(TortureForm.note(index)),
                        "value": .string(String(number)),
                    ],
                ],
                "idempotencyKey": .string("\(prefix)-\(index)-\(number)"),
            ])
    }

    /// Takes answers.
    public func received() {
        guard let peer else { return }
        for frame in peer.takeFrames() {
            guard let message = try? JSON(parsing: frame) else {
                findings.add("writer \(index): not JSON")
                continue
            }
            answered(message)
        }
        if peer.isClosed {
            connect(nil)
        } else {
            pump()
        }
    }

    /// An edit that is sent again with its key gets the same answer.
    private func note(_ answered: Int64, of edit: Edit) {
        let index = Int(edit.number) - 1
        while revisions.count <= index { revisions.append(0) }
        if revisions[index] != 0, revisions[index] != answered {
            findings.add(
                "writer \(self.index), edit \(edit.number): revision \(revisions[index]), then "
                    + "\(answered)")
        }
        revisions[index] = answered
        revision = max(revision, answered)
    }

    private func answered(_ message: JSON) {
        guard let id = message["id"]?.integerValue, let edit = underWay[id] else { return }
        underWay[id] = nil
        order.removeAll { $0 == id }
        if let result = message["result"] {
            note(result["revision"]?.integerValue ?? 0, of: edit)
            if loses?() ?? false {
                lost += 1
                waiting.insert(edit, at: 0)
                return
            }
            acknowledged += 1
            return
        }
        if message["error"]?["data"]?["kind"]?.stringValue == "unavailable" {
            unavailable += 1
            pausedUntil = monotonicNanoseconds() + 20_000_000
        } else {
            findings.add("writer \(index), edit \(edit.number): \(message.encodedText)")
        }
        // In its old place: a note must not be followed by an earlier one.
        let place = waiting.firstIndex { $0.number > edit.number } ?? waiting.count
        waiting.insert(edit, at: place)
    }
}
