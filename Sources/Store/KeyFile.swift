/// Where the sealing key comes from.

extension Sealer {
    /// Takes the key from systemd's credentials, else from the file `key` beside the store, which
    /// is made when it is not there.
    ///
    /// After `Store.open`, whose lock keeps a second daemon from making another key.
    /// - Parameters:
    ///   - directory: the state directory.
    ///   - credentials: `$CREDENTIALS_DIRECTORY` (systemd.exec(5)), where `pickersync-key` holds 32
    ///     bytes or 64 hexadecimal digits; `nil` where it is not set.
    public static func load(
        directory: String, credentials: String?
    ) throws(SealerError) -> Sealer {
        throw .inputOutput(file: directory, reason: "")
    }
}
