internal import Glibc
internal import SyncCore

// The journal's native protocol (systemd's JOURNAL_NATIVE_PROTOCOL page): one datagram with
// `NAME=value` lines for each entry. Lines on standard error have only a priority and a message;
// these entries also have fields that `journalctl PICKERSYNC_FORM=deploy` finds.
//
// Invariants: sending never blocks; an entry that cannot be sent goes to standard error; no value
// contains a newline, so no value can forge a field.

/// Where entries go when the daemon runs under systemd.
struct JournalSocket {
    /// Where journald listens.
    static let path = "/run/systemd/journal/socket"

    private let descriptor: CInt
    private let address: sockaddr_un

    /// A socket to journald; `nil` if journald is not available. It stays open as long as the
    /// process.
    init?(path: String = JournalSocket.path) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard path.utf8.count < place.count else { return false }
            place.copyBytes(from: path.utf8)
            return true
        }
        guard fits, access(path, F_OK) == 0 else { return nil }
        let descriptor = socket(
            AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        self.address = address
    }

    /// Sends an entry: sendto(2). Returns whether journald accepted it.
    func send(_ entry: LogEntry) -> Bool {
        let bytes = Array(Self.text(of: entry).utf8)
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(
                    descriptor, bytes, bytes.count,
                    CInt(MSG_NOSIGNAL | MSG_DONTWAIT), address,
                    socklen_t(MemoryLayout<sockaddr_un>.size)) == bytes.count
            }
        }
    }

    static func text(of entry: LogEntry) -> String {
        var text = "MESSAGE=\(shortened(entry.message))\nPRIORITY=\(entry.priority.rawValue)\n"
        text += "SYSLOG_IDENTIFIER=pickersyncd\n"
        for field in entry.fields {
            text += "\(field.name.journalName)=\(shortened(field.value))\n"
        }
        return text
    }

    /// One line without terminal control characters, of the same maximum length as on standard
    /// error.
    private static func shortened(_ text: String) -> String {
        let text = text.escapedForDisplay()
        guard text.utf8.count > Log.lineBytesMax else { return text }
        return String(decoding: text.utf8.prefix(Log.lineBytesMax), as: UTF8.self)
    }
}
