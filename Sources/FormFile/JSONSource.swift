internal import SyncCore

// JSON files: the protocol's codec decides what is JSON and what it means; a second walk finds the
// positions of the parts, or the context of a mistake.
enum JSONSource {
    static func parse(
        _ bytes: [UInt8], name: String, limits: YAMLDocument.Limits
    ) throws(FileIssues) -> SourceTree {
        do throws(JSONError) {
            let json = try JSON(parsing: bytes, depthMax: limits.depthMax)
            return SourceTree(name: name, json: json, source: JSONPlaces.read(bytes))
        } catch {
            throw FileIssues(issue(error, in: bytes, name: name))
        }
    }

    private static func issue(_ error: JSONError, in bytes: [UInt8], name: String) -> FileIssue {
        let surroundings = JSONPlaces.surroundings(of: error.offset, in: bytes)
        var path = surroundings.path
        var message = error.reason.inWords
        var expected: String?
        if error.reason == .duplicateKey, let key = surroundings.key {
            path.append(.key(key.name))
            message = "the key is there already, at \(key.first.line):\(key.first.column)"
            expected = "each key once"
        }
        return FileIssue(
            file: name, position: bytes.position(ofByte: error.offset), path: path,
            message: message, expected: expected)
    }
}
