// Why bytes are not valid causal state.

/// Why bytes cannot be decoded. `offset` is the index of the byte, from 0.
public enum CausalityDecodeError: Error, Hashable, Sendable {
    /// The bytes end before the value is complete.
    case truncated(offset: Int)
    /// The version byte is unknown.
    case unsupportedVersion(UInt8)
    /// The bytes are not valid here; `what` describes what is expected.
    case invalid(offset: Int, what: String)
    /// Bytes follow the value.
    case trailing(offset: Int)
}

extension CausalityDecodeError: CustomStringConvertible {
    /// One line for a person.
    public var description: String {
        switch self {
        case .truncated(let offset): "byte \(offset): the bytes end too early"
        case .unsupportedVersion(let version): "codec version \(version) is not known"
        case .invalid(let offset, let what): "byte \(offset): expected \(what)"
        case .trailing(let offset): "byte \(offset): nothing more was expected"
        }
    }
}
