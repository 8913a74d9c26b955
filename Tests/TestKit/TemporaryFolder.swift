public import Foundation

/// A folder for one test, removed with its last reference.
public final class TemporaryFolder: Sendable {
    /// Its path: short, since the path of a socket has at most 107 bytes (unix(7)).
    public let path: String

    /// Creates the folder.
    public init() throws {
        var template = Array("/tmp/ps-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The same as a URL.
    public var url: URL { URL(filePath: path) }

    /// A path inside.
    public func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// Writes a file inside and returns its path.
    @discardableResult
    public func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: url.appending(path: name))
        return self(name)
    }
}
