// Files named on the command line, and standard input for `-`.

internal import FormFile
internal import SyncCore

/// Reads input files.
enum InputFile {
    /// The name in messages.
    static func name(_ path: String) -> String { path == "-" ? "standard input" : path }

    /// The bytes of a file, `-` for standard input.
    static func bytes(_ path: String) throws(Failure) -> [UInt8] {
        if path == "-" { return try Console.readStandardInput() }
        do throws(FileIssues) {
            return try FileReading.bytes(ofFile: path)
        } catch {
            throw .file(.noInput, error.issues[0])
        }
    }

    /// The value in a file of YAML or JSON.
    static func tree(
        _ path: String, limits: YAMLDocument.Limits = YAMLDocument.Limits()
    ) throws(Failure) -> JSON {
        let bytes = try bytes(path)
        do throws(FileIssues) {
            return try YAMLDocument.parse(bytes, name: name(path), limits: limits).json
        } catch {
            throw .file(.data, error.issues[0])
        }
    }
}
