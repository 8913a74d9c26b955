public import SyncCore

// Parses a form file to a definition, or reports every mistake with file, line and path.
//
// A file with a mistake is never applied in part: the result is the whole definition or none
// (FORM.md, File).

/// Reads form files.
public enum FormFile {
    /// Lists and mappings inside each other: an answer in a batch has a definition in three more.
    private static let depthMax = JSON.depthMax - 3

    /// The form in the regular file at `path`, and the value that it was parsed from.
    public static func load(
        path: String, limits: FormLimits = FormLimits()
    ) -> Result<(FormDefinition, JSON), FileIssues> {
        do throws(FileIssues) {
            let bytes = try FileReading.bytes(
                ofFile: path, bytesMax: limits.frameBytesMax, alsoDescriptors: false)
            return load(bytes, name: path, limits: limits)
        } catch {
            return .failure(error)
        }
    }

    /// The form in the text of a file called `name`, and the value that it was parsed from.
    public static func load(
        _ bytes: [UInt8], name: String, limits: FormLimits = FormLimits()
    ) -> Result<(FormDefinition, JSON), FileIssues> {
        do throws(FileIssues) {
            let tree = try YAMLDocument.parse(
                bytes, name: name,
                limits: YAMLDocument.Limits(bytesMax: limits.frameBytesMax, depthMax: depthMax))
            return .success((try definition(in: tree, limits: limits), tree.json))
        } catch {
            return .failure(error)
        }
    }

    /// The form that a value from a file describes.
    public static func definition(
        in tree: SourceTree, limits: FormLimits = FormLimits()
    ) throws(FileIssues) -> FormDefinition {
        do throws(FormIssues) {
            return try FormDefinition.parse(
                tree.json, limits: limits, compile: RegularExpression.compiler)
        } catch {
            throw FileIssues(error, in: tree)
        }
    }
}

extension FileIssues {
    /// The issues of a form at their places in the file that it was read from.
    public init(_ issues: FormIssues, in tree: SourceTree) {
        let placed = issues.issues.map { issue in
            tree.issue(
                at: issue.path, issue.message,
                expected: issue.expected.isEmpty ? nil : issue.expected)
        }
        self.init(placed.isEmpty ? [tree.issue(at: [], "no form that we know")] : placed)
    }
}
