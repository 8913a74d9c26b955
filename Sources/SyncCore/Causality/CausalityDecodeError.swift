// Why bytes are not valid causal state.

/// Why a decoder refused bytes; each case names the byte, counted from 0.
public enum CausalityDecodeError: Error, Hashable, Sendable {
    /// The bytes end before what was begun.
    case truncated(offset: Int)
    /// They were written by a codec that this one does not know.
    case unsupportedVersion(UInt8)
    /// They break a rule of what they should hold; `what` says in words what belongs there.
    case invalid(offset: Int, what: String)
    /// Bytes follow what was to be decoded.
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
