public import SyncCore

// A value that was read from a file, and where in the file each part of it stands.
//
// The map is a tree of the same shape as the value: one node a value, the children in the order of
// the elements or members. So it costs two positions a value and no hashing, and a part that came
// from an alias or a merge keeps the place where somebody wrote it.

/// A place in a file. Both numbers count from 1; columns count Unicode scalars, as editors do.
public struct SourcePosition: Hashable, Comparable, Sendable {
    private let narrowLine: Int32
    private let narrowColumn: Int32

    /// The line, from 1.
    public var line: Int { Int(narrowLine) }
    /// The column, from 1.
    public var column: Int { Int(narrowColumn) }

    /// A place; numbers beyond 32 bits are clamped, since no file that is read is that long.
    public init(line: Int, column: Int) {
        narrowLine = Int32(clamping: line)
        narrowColumn = Int32(clamping: column)
    }

    /// Order in the file.
    public static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.narrowLine, left.narrowColumn) < (right.narrowLine, right.narrowColumn)
    }
}

/// Where one value stands: itself, its key where it is a member, and what it holds.
struct SourceNode: Sendable {
    var value: SourcePosition
    var key: SourcePosition?
    var children: [SourceNode] = []
}

/// A JSON value with the place of each of its parts.
public struct SourceTree: Sendable {
    /// The file, as the caller named it.
    public let name: String
    /// The value.
    public let json: JSON

    let source: SourceNode

    /// Where the value at `path` begins; where the path leads nowhere, the nearest value on the way
    /// to it, so that an issue about something missing points at what should have held it.
    public func position(of path: [PathStep]) -> SourcePosition {
        nearest(to: path).node.value
    }

    /// Where the name of the member at `path` stands: for issues about the name itself, such as an
    /// attribute that nobody knows. `nil` where `path` does not end at a member.
    public func keyPosition(of path: [PathStep]) -> SourcePosition? {
        let (node, isWhole) = nearest(to: path)
        return isWhole ? node.key : nil
    }

    /// Where a person looks for what is at `path`: the value, or its name where the value begins on
    /// a later line (`options:` and the list below it).
    public func place(of path: [PathStep]) -> SourcePosition {
        let node = nearest(to: path).node
        guard let key = node.key, key.line != node.value.line else { return node.value }
        return key
    }

    /// An issue at `path`.
    public func issue(
        at path: [PathStep], _ message: String, expected: String? = nil
    ) -> FileIssue {
        FileIssue(
            file: name, position: place(of: path), path: path, message: message,
            expected: expected)
    }

    private func nearest(to path: [PathStep]) -> (node: SourceNode, isWhole: Bool) {
        var node = source
        var value = json
        for step in path {
            let index: Int
            switch (step, value) {
            case (.index(let place), .array(let elements)) where elements.indices.contains(place):
                index = place
                value = elements[place]
            case (.key(let name), .object(let object)):
                let found = object.members.firstIndex { $0.name.isSameBytes(as: name) }
                guard let found else { return (node, false) }
                index = found
                value = object.members[found].value
            default: return (node, false)
            }
            guard node.children.indices.contains(index) else { return (node, false) }
            node = node.children[index]
        }
        return (node, true)
    }
}
