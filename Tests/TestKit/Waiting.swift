import Glibc

/// A test waited for something that did not happen.
public struct GaveUp: Error, CustomStringConvertible {
    /// What it waited for.
    public let description: String

    /// An error with a sentence.
    public init(_ description: String) { self.description = description }
}

/// Waits until `condition` is true.
///
/// The limit of five minutes is only there so that a failing test ends: no promise of the product
/// depends on it, and a machine that is busy does not reach it.
public func eventually(
    _ what: @autoclosure () -> String = "a condition", _ condition: () throws -> Bool
) throws {
    var clock = timespec()
    clock_gettime(CLOCK_MONOTONIC, &clock)
    let deadline = clock.tv_sec + 300
    while clock.tv_sec < deadline {
        if try condition() { return }
        usleep(1_000)
        clock_gettime(CLOCK_MONOTONIC, &clock)
    }
    throw GaveUp("gave up waiting: \(what())")
}
