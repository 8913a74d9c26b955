// A backup of the daemon's store: the daemon sends the bytes and this command writes the file.

internal import ArgumentParser
internal import Glibc
internal import PickerClient
internal import SyncCore

/// `pickerctl backup FILE`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        "backup", abstract: "Copy the daemon's store to a file, while it is in use.",
        discussion: """
            For root and the daemon's own user. The file appears when it is complete; an existing \
            one is not overwritten. Secure fields are sealed in it, as in the store: keep the file \
            "key" of the state directory elsewhere. pickersyncd --restore FILE restores it.

            Example: pickerctl backup /var/backups/pickersync.db
            """)
    @OptionGroup var common: CommonOptions
    @Argument(help: "The file to write.", completion: .file()) var file: String

    func run() throws {
        guard access(file, F_OK) != 0 else {
            throw Failure.existsAlready(file, .data)
        }
        let session = Session(common.settings)
        let target = try PartialFile(file)
        let begun = try session.call(.serverBackup(ServerBackup())) {
            json throws(DecodeError) in try BackupResult(decoding: json)
        }
        var offset: Int64 = 0
        while offset < begun.bytes {
            let piece = try session.call(
                .serverBackup(ServerBackup(backup: begun.backup, offset: offset))
            ) { json throws(DecodeError) in try BackupPiece(decoding: json) }
            guard piece.offset == offset, !piece.bytes.isEmpty else {
                throw Failure.wrongPiece
            }
            try target.write(piece.bytes)
            offset += Int64(piece.bytes.count)
        }
        try target.finish()
        try session.console.safeLine("\(file): \(Examination.size(begun.bytes))")
        try session.console.flush()
    }
}

/// A file that gets its name only when it is complete and durable.
private final class PartialFile {
    private let name: String
    private let partial: String
    private var descriptor: Int32
    private var isFinished = false

    init(_ name: String) throws(Failure) {
        self.name = name
        partial = "\(name).partial-\(getpid())"
        descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw .notWritten(name, errno, "choose another name")
        }
    }

    deinit {
        close(descriptor)
        if !isFinished { unlink(partial) }
    }

    func write(_ bytes: [UInt8]) throws(Failure) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done)
            }
            if count > 0 {
                done += count
            } else if errno != EINTR {
                throw failed()
            }
        }
    }

    /// link(2) fails if the name already exists, while rename(2) would overwrite it.
    func finish() throws(Failure) {
        guard fsync(descriptor) == 0, link(partial, name) == 0 else { throw failed() }
        let slash = name.lastIndex(of: "/")
        let folder = slash.map { $0 == name.startIndex ? "/" : String(name[..<$0]) } ?? "."
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
        unlink(partial)
        isFinished = true
    }

    private func failed() -> Failure {
        .notWritten(name, errno, "free some space and try again")
    }
}
