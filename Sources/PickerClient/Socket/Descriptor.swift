#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A file descriptor that is closed when its owner is destroyed.
public struct Descriptor: ~Copyable {
    /// The number, at least 0.
    public let number: Int32

    /// Takes over an open descriptor.
    public init(_ number: Int32) {
        precondition(number >= 0, "a descriptor is not negative")
        self.number = number
    }

    /// Gives up ownership: the caller must close it.
    public consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    deinit { close(number) }
}
