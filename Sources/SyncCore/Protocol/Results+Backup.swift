// What `server.backup` answers.

/// The result of its beginning: a copy was made.
public struct BackupResult: Hashable, Sendable {
    /// Names the copy on this connection.
    public var backup: Int64
    /// Its length.
    public var bytes: Int64

    /// A copy of so many bytes.
    public init(backup: Int64, bytes: Int64) {
        self.backup = backup
        self.bytes = bytes
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("backup", backup)
        writer.member("bytes", bytes)
        writer.endObject()
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        backup = try reader.integer("backup")
        bytes = try reader.integer("bytes")
    }
}

/// A piece of a copy: `data` on the wire, in base64.
public struct BackupPiece: Hashable, Sendable {
    public var backup: Int64
    /// Where it begins, in bytes.
    public var offset: Int64
    /// What stands there; empty behind the end.
    public var bytes: [UInt8]

    /// A piece.
    public init(backup: Int64, offset: Int64, bytes: [UInt8]) {
        self.backup = backup
        self.offset = offset
        self.bytes = bytes
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("backup", backup)
        writer.member("offset", offset)
        writer.member("data", Base64.encode(bytes))
        writer.endObject()
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
