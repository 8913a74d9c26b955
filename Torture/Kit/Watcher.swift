/// A client that watches the form and checks the guarantees for notifications (PROTOCOL.md, What
/// you can rely on): no gap, no repetition, no step back, also across crashes and restarts.

import SyncCore

/// What watchers saw, counted.
public struct WatchCounts: Sendable {
    /// The number of checked revisions.
    public var revisions = 0
    /// The number of changes with several merged revisions.
    public var coalesced = 0
    /// The number of resumed subscriptions.
    public var resumed = 0
    /// The number of subscriptions that got a snapshot although something had been seen.
    public var restarted = 0
    /// Violations.
    public var findings = Findings()

    /// Nothing yet.
    public init() {}

    /// Adds what others saw.
    public mutating func add(_ others: WatchCounts) {
        revisions += others.revisions
        coalesced += others.coalesced
        resumed += others.resumed
        restarted += others.restarted
        findings.add(others.findings)
    }
}

/// The sum of what the watchers of a run saw.
public final class WatchTally {
    /// So far.
    public var counts: WatchCounts

    /// Begins with what others saw.
    public init(_ counts: WatchCounts = WatchCounts()) { self.counts = counts }
}

/// One watcher of a form.
public final class Watcher: Served {
    /// A name for findings.
    public let name: String
    /// Whether the daemon must always resume this watcher: after a kill with `durability = commit`
    /// it must, as long as the log was not renamed for a rebuild or restore.
    public var mustResume = true
    /// The newest revision that it has seen.
    public private(set) var revision: Int64 = 0
    /// The log that it watches.
    public private(set) var log: String?
    /// Its connection, while there is one.
    public private(set) var peer: Peer?
    /// The counters in notifications.
    public private(set) var counts: [String: Int64] = [:]
    /// Whether the daemon has said goodbye on this connection.
    public private(set) var hasGoodbye = false
    private let tally: WatchTally
    private let form: String
    private var asked: Int64 = 0
    private var isSubscribed = false

    /// A watcher of a form.
    public init(name: String, tally: WatchTally, form: String = TortureForm.name) {
        self.name = name
        self.tally = tally
        self.form = form
    }

    /// Whether the subscription was answered.
    public var isFollowing: Bool { peer != nil && isSubscribed }

    /// Continues with a new connection from the last revision.
    public func connect(_ peer: Peer?) {
        self.peer = peer
        isSubscribed = false
        hasGoodbye = false
        guard let peer else { return }
        asked = peer.nextID()
        var params = JSONObject([("form", .string(form))])
        if let log {
            params["since"] = ["log": .string(log), "revision": .integer(revision)]
        }
        peer.send("state.subscribe", .object(params), id: asked)
        peer.flush()
    }

    /// Receives what has arrived.
    public func received() {
        guard let peer else { return }
        for frame in peer.takeFrames() { take(frame) }
        if peer.isClosed { connect(nil) }
    }

    private func take(_ frame: [UInt8]) {
        guard let message = try? JSON(parsing: frame) else {
            tally.counts.findings.add("\(name): not JSON")
            return
        }
        if message["id"]?.integerValue == asked {
            subscribed(message)
        } else if message["method"]?.stringValue == "state.changed", let params = message["params"]
        {
            changed(params)
        } else if message["method"]?.stringValue == "form.changed", let params = message["params"] {
            advance(to: params["revision"]?.integerValue ?? -1, from: nil)
        } else if message["method"]?.stringValue == "goodbye" {
            hasGoodbye = true
        }
    }

    private func subscribed(_ message: JSON) {
        guard let result = message["result"], let newLog = result["log"]?.stringValue,
            let newRevision = result["revision"]?.integerValue
        else {
            tally.counts.findings.add("\(name): subscribe was answered \(message.encodedText)")
            return
        }
        isSubscribed = true
        if result["resumed"]?.boolValue == true {
            tally.counts.resumed += 1
            tally.counts.findings.require(
                newLog == log, "\(name): resumed in log \(newLog), asked for \(log ?? "-")")
            return
        }
        if let log {
            tally.counts.restarted += 1
            tally.counts.findings.require(
                !mustResume,
                "\(name): had seen \(log):\(revision), was given a snapshot of "
                    + "\(newLog):\(newRevision)")
            tally.counts.findings.require(
                newLog != log || newRevision >= revision,
                "\(name): revision \(revision) of \(log) was seen and is gone")
        }
        log = newLog
        revision = newRevision
        counts = [:]
        for (field, state) in result["fields"]?.objectValue?.members ?? []
        where field.hasPrefix("count-") {
            counts[field] = state["value"]?.integerValue ?? 0
        }
    }

    private func changed(_ params: JSON) {
        let from = params["coalesced"]?["from"]?.integerValue
        if from != nil { tally.counts.coalesced += 1 }
        advance(to: params["revision"]?.integerValue ?? -1, from: from)
        for change in params["changes"]?.arrayValue ?? [] {
            guard let field = change["field"]?.stringValue, field.hasPrefix("count-"),
                let value = change["value"]?.integerValue
            else { continue }
            let before = counts[field] ?? 0
            // One edit adds one: a jump means a lost or doubled edit.
            tally.counts.findings.require(
                value == before + 1 || (from != nil && value > before),
                "\(name): \(field) went from \(before) to \(value) at revision \(revision)")
            counts[field] = value
        }
    }

    private func advance(to newer: Int64, from: Int64?) {
        tally.counts.revisions += 1
        let first = from ?? newer
        if newer <= revision {
            tally.counts.findings.add("\(name): revision \(newer) after \(revision)")
        } else if first != revision + 1 {
            tally.counts.findings.add("\(name): revision \(first) follows \(revision): a gap")
        }
        revision = max(revision, newer)
    }
}
