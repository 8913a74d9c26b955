// How many descriptors this process may open. A daemon must stay far below the limit: at the limit,
// every accept fails while the connection stays readable.

internal import Glibc

/// The bounds on open descriptors of this process: getrlimit(2), RLIMIT_NOFILE.
public struct DescriptorLimit: Hashable, Sendable {
    /// How many descriptors the kernel grants now.
    public var soft: UInt64
    /// How far `soft` may be raised.
    public var hard: UInt64

    /// The current limits.
    public static func current() throws(SystemError) -> DescriptorLimit {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw SystemError(errno: errno, operation: "getrlimit")
        }
        return DescriptorLimit(soft: UInt64(limit.rlim_cur), hard: UInt64(limit.rlim_max))
    }

    /// Sets the soft bound to `wanted`, or to the hard bound if that is lower; returns the new
    /// limit.
    @discardableResult
    public static func setSoft(_ wanted: UInt64) throws(SystemError) -> DescriptorLimit {
        var bounds = try current()
        bounds.soft = min(wanted, bounds.hard)
        var limit = rlimit(rlim_cur: rlim_t(bounds.soft), rlim_max: rlim_t(bounds.hard))
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw SystemError(errno: errno, operation: "setrlimit")
        }
        return bounds
    }
}
