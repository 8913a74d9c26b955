import Foundation
import SyncCore
import TestKit

@testable import FormFile

/// The form files that the tests read.
///
/// A file of `Forms/broken` opens with what it is for: `# KIND at LINE:COLUMN PATH: FRAGMENT`. KIND
/// is who refuses it: `syntax` is not YAML that we accept; `structure` is refused by the JSON Schema
/// and by the model; `meaning` is refused by the model alone. LINE, COLUMN and PATH are those of
/// the first issue, and FRAGMENT is part of its message.
enum FormFolder {
    static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    static let schema = sourceTree.appending(path: "docs/schema/form.schema.json")

    static let examples = files(sourceTree.appending(path: "Examples/forms"))
    static let valid = files(tests.appending(path: "Forms/valid"))
    static let broken = files(tests.appending(path: "Forms/broken"))

    /// The files of a folder, sorted by name.
    static func files(_ folder: URL) -> [URL] {
        let found = try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        return (found ?? []).sorted { $0.lastPathComponent < $1.lastPathComponent }
    }

    static func bytes(_ file: URL) throws -> [UInt8] { [UInt8](try Data(contentsOf: file)) }
}

/// What the first line of a broken form promises.
struct Expectation {
    enum Kind: String { case syntax, structure, meaning }

    var kind: Kind
    /// `broken.yaml:3:5: fields[0].id: `, without the path where there is none.
    var prefix: String
    var fragment: String

    init?(_ file: URL) throws {
        let text = String(decoding: try FormFolder.bytes(file), as: UTF8.self)
        let first = text.split(separator: "\n", maxSplits: 1)[0]
        guard let match = first.wholeMatch(of: /# (\w+) at (\d+:\d+)(?: ([^\s:]+))?(?:: (.+))?/),
            let kind = Kind(rawValue: String(match.1))
        else { return nil }
        self.kind = kind
        prefix = "\(file.lastPathComponent):\(match.2): "
        if let path = match.3 { prefix += path + ": " }
        fragment = match.4.map(String.init) ?? ""
    }
}
