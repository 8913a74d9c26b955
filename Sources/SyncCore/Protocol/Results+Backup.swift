// The results of `server.backup`.

/// The result of a new copy.
public struct BackupResult: Hashable, Sendable {
    /// The number of the copy on this connection.
    public var backup: Int64
    /// Its length in bytes.
    public var bytes: Int64
}

extension BackupResult: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("backup", backup)
        writer.member("bytes", bytes)
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        backup = try reader.integer("backup")
        bytes = try reader.integer("bytes")
    }
}

/// A piece of a copy: `data` in the protocol, in base64.
public struct BackupPiece: Hashable, Sendable {
    public var backup: Int64
    /// Its offset in bytes.
    public var offset: Int64
    /// Its content; empty after the end.
    public var bytes: [UInt8]
}

extension BackupPiece: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("backup", backup)
        writer.member("offset", offset)
        writer.member("data", Base64.encode(bytes))
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        backup = try reader.integer("backup")
        offset = try reader.integer("offset")
        guard let bytes = Base64.decode(try reader.string("data")) else {
            throw reader.mistyped("data", "base64")
        }
        self.bytes = bytes
    }
}
