/// Writers and watchers of one daemon, which reconnect after each failure, and what must be true of
/// the daemon that they find.

import Glibc
import SyncCore

/// A crowd around one `DaemonUnderTest`.
public final class Crowd {
    /// The clients that edit.
    public let writers: [Writer]
    /// The clients that watch.
    public let watchers: [Watcher]
    /// Errors found.
    public var findings = Findings()
    /// What daemons contained, to be checked when every edit was answered.
    private var sights: [Sight] = []

    private struct Sight {
        let when: String
        let revision: Int64
        let counts: [Int64]
        let notes: [Int64]
    }

    /// This many writers with this many pending edits each, and this many watchers.
    public init(
        writers: Int, depth: Int, watchers: Int, tally: WatchTally, prefix: String
    ) {
        self.writers = (0..<writers).map { Writer(index: $0, depth: depth, prefix: prefix) }
        self.watchers = (0..<watchers).map {
            Watcher(name: "\(prefix) watcher \($0)", tally: tally)
        }
    }

    private var everybody: [any Served] { writers as [any Served] + (watchers as [any Served]) }

    /// Edits that were answered.
    public var acknowledged: Int64 { writers.reduce(0) { $0 + $1.acknowledged } }

    /// Answers `unavailable`.
    public var unavailable: Int { writers.reduce(0) { $0 + $1.unavailable } }

    /// Connects all clients without a connection; returns whether there was a daemon for all of
    /// them.
    @discardableResult
    public func connect(to daemon: DaemonUnderTest) -> Bool {
        for watcher in watchers where watcher.peer == nil {
            guard let peer = Peer(connecting: daemon.socket) else { return false }
            watcher.connect(peer)
        }
        for writer in writers where writer.peer == nil {
            guard let peer = Peer(connecting: daemon.socket) else { return false }
            writer.connect(peer)
        }
        return true
    }

    /// Serves all clients once.
    public func turn(milliseconds: Int32 = 5) {
        serve(everybody, milliseconds: milliseconds)
        for writer in writers { writer.pump() }
    }

    /// Serves all clients for a while, or until the daemon has ended.
    public func work(seconds: Double, on daemon: DaemonUnderTest) {
        let deadline = monotonicNanoseconds() + UInt64(seconds * 1e9)
        while monotonicNanoseconds() < deadline, daemon.process?.poll() == nil {
            turn(milliseconds: 2)
        }
    }

    /// Serves all clients until a condition is true.
    public func work(
        until what: String, on daemon: DaemonUnderTest, seconds: Double = 60,
        _ condition: () -> Bool
    ) throws {
        let deadline = monotonicNanoseconds() + UInt64(seconds * 1e9)
        while !condition() {
            guard monotonicNanoseconds() < deadline else {
                throw Trouble("gave up waiting until \(what): \(daemon.said)")
            }
            if daemon.process?.poll() != nil { throw Trouble("it ended: \(daemon.said)") }
            connect(to: daemon)
            turn()
        }
    }

    /// The daemon is gone: what it sent is still read, then all clients are without a connection.
    public func bereave() {
        for client in everybody { client.received() }
        for writer in writers { writer.connect(nil) }
        for watcher in watchers { watcher.connect(nil) }
    }

    /// Each daemon contained exactly the edits up to its revision, with the note of the last one.
    /// This is known only when every edit was answered. Edits that are sent together need not be
    /// executed in order: each is rejected or executed by itself, so one that was rejected while a
    /// store came back is executed after those behind it.
    private func judgeSights() {
        for (index, writer) in writers.enumerated() {
            let done = writer.revisions.enumerated().filter { $0.element > 0 }
                .map { (revision: $0.element, number: Int64($0.offset) + 1) }
                .sorted { $0.revision < $1.revision }
            for sight in sights {
                let count = done.partitionIndex { $0.revision > sight.revision }
                let note = count > 0 ? done[count - 1].number : 0
                findings.require(
                    sight.counts[index] == count && sight.notes[index] == note,
                    "\(sight.when): writer \(index): count \(sight.counts[index]), note "
                        + "\(sight.notes[index]); by the answers \(count) and \(note)")
            }
        }
        sights = []
    }

    /// Checks what a daemon contains after a restart: nothing that was answered or shown may be
    /// missing or doubled, and what was written together must be together.
    public func examine(_ peer: Peer, _ when: @autoclosure () -> String) throws {
        let now = try TortureForm.read(writers: writers.count, by: peer)
        for (index, writer) in writers.enumerated() {
            let count = now.counts[index]
            findings.require(
                count >= writer.acknowledged,
                "\(when()): writer \(index) was answered \(writer.acknowledged) edits, "
                    + "\(count) are there")
            findings.require(
                count <= writer.begun,
                "\(when()): writer \(index) made \(writer.begun) edits, \(count) are there")
            findings.require(
                now.revision >= writer.revision,
                "\(when()): revision \(writer.revision) was answered, now it is \(now.revision)")
        }
        sights.append(
            Sight(when: when(), revision: now.revision, counts: now.counts, notes: now.notes))
        for watcher in watchers {
            findings.require(
                now.revision >= watcher.revision || !watcher.mustResume,
                "\(when()): \(watcher.name) saw revision \(watcher.revision), now it is "
                    + "\(now.revision)")
        }
    }

    /// Waits until every edit is answered and every watcher has seen the last one; then does
    /// something while nothing is pending, with a connection of its own.
    public func pause<Result>(
        on daemon: DaemonUnderTest, _ body: (Peer, TortureForm.Reading) throws -> Result
    ) throws -> Result {
        for writer in writers { writer.isOpen = false }
        defer { for writer in writers { writer.isOpen = true } }
        try work(until: "every edit is answered", on: daemon) {
            writers.allSatisfy { $0.isSettled }
        }
        guard let peer = try daemon.connection() else { throw Trouble("no daemon: \(daemon.said)") }
        let now = try TortureForm.read(writers: writers.count, by: peer)
        try work(until: "every watcher has seen revision \(now.revision)", on: daemon) {
            watchers.allSatisfy { $0.isFollowing && $0.revision >= now.revision }
        }
        return try body(peer, now)
    }

    /// Waits until all is answered and checks that it is exact.
    public func settle(on daemon: DaemonUnderTest, _ when: @autoclosure () -> String) throws {
        try pause(on: daemon) { peer, now in try judge(peer, now, when()) }
    }

    private func judge(_ peer: Peer, _ now: TortureForm.Reading, _ when: String) throws {
        try examine(peer, when)
        for (index, writer) in writers.enumerated() {
            findings.require(
                now.counts[index] == writer.begun,
                "\(when): writer \(index) made \(writer.begun) edits, \(now.counts[index]) count")
        }
        judgeSights()
        for writer in writers { for line in writer.findings.lines { findings.add(line) } }
    }
}
