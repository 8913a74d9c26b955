// `server.backup`: a copy of the store for an administrator, in pieces.
//
// The bytes are sent through the connection and the client writes the file, so nobody can make the
// daemon write to a path. The copy is a snapshot. The daemon keeps it as an unnamed file until it
// is sent completely, the connection ends, or another backup starts.

extension Engine {
    /// Bytes of one piece. Its base64 text fits in a frame.
    private var pieceBytes: Int { (configuration.limits.maxFrame - 1024) / 4 * 3 }

    func serverBackup(_ params: ServerBackup, _ call: PendingCall) throws(WireError) {
        let connection = call.connection
        let peer = connection.peer
        guard peer.uid == 0 || peer.uid == configuration.daemonUID else {
            throw forbidden(
                peer, "make a backup", nil, nil, nil,
                because: "only root and the daemon's user may")
        }
        guard let backup = params.backup else {
            log(.notice, "backup begun by \(peer.whom)")
            endBackup(of: connection)
            return fetch(.backup, for: .backup(call, offset: 0), connection)
        }
        guard backup == connection.backup else {
            throw WireError(
                .notFound, "this connection has no backup \(backup); leave backup out to begin one")
        }
        let offset = params.offset ?? 0
        let query = StoreQuery.backupPiece(backup, offset: offset, bytesMax: pieceBytes)
        fetch(query, for: .backup(call, offset: offset), connection)
    }

    /// The store has made a snapshot.
    func backupBegan(_ number: Int64, bytes: Int64, _ call: PendingCall) {
        call.connection.backup = number
        let result = BackupResult(backup: number, bytes: bytes)
        answer(call) { result.encode(into: &$0) }
    }

    /// The store has read a piece of the snapshot; `nil` if another backup replaced it.
    func backupPiece(_ bytes: [UInt8]?, offset: Int64, _ call: PendingCall) throws(WireError) {
        guard let bytes, let number = call.connection.backup else {
            call.connection.backup = nil
            throw WireError(
                .conflict, "another backup was begun meanwhile and ended this one; begin again")
        }
        let piece = BackupPiece(backup: number, offset: offset, bytes: bytes)
        answer(call) { piece.encode(into: &$0) }
    }

    /// Deletes the snapshot of a connection, if it has one.
    func endBackup(of connection: Connection) {
        guard let number = connection.backup else { return }
        connection.backup = nil
        deleteBackup(number)
    }

    /// Deletes a snapshot whose connection has ended.
    func deleteBackup(_ number: Int64) {
        effects.append(.fetch(link.newFetch(), .backupEnd(number), uid: 0))
    }
}
