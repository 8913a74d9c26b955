/// Errors of the encryption key.

/// Why there is no key.
public enum SealerError: Error, Sendable, Hashable {
    /// The file does not contain a valid key.
    case malformed(file: String, finding: String)
    /// Others could read or replace the key.
    case unsafe(file: String, finding: String, remedy: String)
    /// It could not be read or written.
    case inputOutput(file: String, reason: String)
    /// There is no such file.
    case absent(file: String)
    /// libsodium could not allocate guarded memory.
    case noMemory(file: String)
}

extension SealerError: CustomStringConvertible {
    /// One line: the file, the reason, the next step.
    public var description: String {
        switch self {
        case .malformed(let file, let finding):
            "\(file): \(finding); a key is 32 bytes, or 64 hexadecimal digits"
        case .unsafe(let file, let finding, let remedy):
            "\(file): \(finding); \(remedy)"
        case .inputOutput(let file, let reason):
            "\(file): \(reason)"
        case .absent(let file): "\(file): no such file"
        case .noMemory(let file):
            "\(file): no guarded memory for the key; raise LimitMEMLOCK"
        }
    }
}
