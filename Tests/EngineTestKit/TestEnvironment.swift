// What an engine of a test has instead of the system's randomness, keys and audit log.

internal import SeededRandom
public import SyncCore

extension Environment {
    /// Deterministic randomness, and a seal that does not encrypt but checks the associated data.
    public static func forTests(
        seed: UInt64, compile: @escaping PatternCompiler, key: UInt8 = 0,
        _ auditLog: AuditLog = AuditLog()
    ) -> Environment {
        let random = SharedRandom(seed: seed)
        return Environment(
            random: { random.next() }, compile: compile,
            seal: { plain, place in
                [UInt8(truncatingIfNeeded: place.count), key] + place + plain.map { ~$0 }
            },
            open: { sealed, place in
                let head = [UInt8(truncatingIfNeeded: place.count), key] + place
                guard sealed.starts(with: head) else { return nil }
                return sealed.dropFirst(head.count).map { ~$0 }
            },
            // FNV-1a: enough to distinguish requests.
            digest: { request in
                request.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
            }, audit: { auditLog.write($0) })
    }
}

/// Collects audit entries; used by one thread, like the engine.
public final class AuditLog: @unchecked Sendable {
    public private(set) var entries: [LogEntry] = []
    /// Whether it accepts no more entries.
    public var isFull = false

    public init() {}

    func write(_ entry: LogEntry) -> Bool {
        if !isFull { entries.append(entry) }
        return !isFull
    }
}

/// Randomness that a `@Sendable` function may use.
// Confined to one test's host, which is used from one thread at a time.
package final class SharedRandom: @unchecked Sendable {
    private var generator: SplitMix64

    package init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    package func next() -> UInt64 { generator.next() }
}
