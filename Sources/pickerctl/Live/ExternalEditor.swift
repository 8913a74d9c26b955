// Edits a text in the user's editor.

@preconcurrency internal import Glibc
internal import PickerClient

/// `$VISUAL`, else `$EDITOR`, else `vi`.
enum ExternalEditor {
    /// Edits a text; `nil` if the editor failed or the result cannot be read.
    static func edit(_ text: String) -> String? {
        let folder = environmentVariable("TMPDIR") ?? "/tmp"
        var random = SystemRandomNumberGenerator()
        let name = String(random.next() as UInt64, radix: 36)
        let path = "\(folder)/pickerctl-\(name).txt"
        // Private, and never an existing file: open(2).
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        defer { unlink(path) }
        let bytes = Array(text.utf8)
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        guard written == bytes.count, run(path) else { return nil }
        return contents(path)
    }

    private static func run(_ path: String) -> Bool {
        let editor = environmentVariable("VISUAL") ?? environmentVariable("EDITOR") ?? "vi"
        // The variable may contain options, so a shell parses it; the path is an argument.
        let arguments = ["sh", "-c", "exec \(editor) \"$1\"", "sh", path]
        var pid: pid_t = 0
        let environment = inheritedEnvironment()
        let status = withCStrings(arguments) { arguments in
            withCStrings(environment) { environment in
                posix_spawn(&pid, "/bin/sh", nil, nil, arguments, environment)
            }
        }
        guard status == 0 else { return false }
        var ending: Int32 = 0
        while waitpid(pid, &ending, 0) < 0, errno == EINTR {}
        return ending == 0
    }

    private static func contents(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while all.count < 1 << 20 {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { break }
            all += buffer.prefix(count)
        }
        guard var text = String(validating: all, as: UTF8.self) else { return nil }
        // Editors add a newline at the end.
        if text.last == "\n" { text.removeLast() }
        return text
    }
}
