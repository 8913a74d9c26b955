public import SyncCore

// A value that was read from a file, with the position of each part in the file.
//
// The map is a tree of the same shape as the value: one node for each value, with the children in
// the order of the elements or members. So it costs two positions for each value and no hashing. A
// part that came from an alias or a merge keeps the position at which it was written.

/// A place in a file. Both numbers count from 1; columns count Unicode scalars, as editors do.
public struct SourcePosition: Hashable, Comparable, Sendable {
    private let narrowLine: Int32
    private let narrowColumn: Int32

    /// The line, from 1.
    public var line: Int { Int(narrowLine) }
    /// The column, from 1.
    public var column: Int { Int(narrowColumn) }

    /// A place; numbers beyond 32 bits are clamped, since no accepted file is that long.
    public init(line: Int, column: Int) {
        narrowLine = Int32(clamping: line)
        narrowColumn = Int32(clamping: column)
    }

    /// Order in the file.
    public static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.narrowLine, left.narrowColumn) < (right.narrowLine, right.narrowColumn)
    }
}

/// The positions of one value: of itself, of its key if it is a member, and of its children.
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

    /// Where the value at `path` begins; if nothing is there, the nearest value on the path, so
    /// that an issue about a missing member points at its parent.
    public func position(of path: [PathStep]) -> SourcePosition {
        nearest(to: path).node.value
    }

    /// The position of the name of the member at `path`, for issues about the name itself, such as
    /// an unknown attribute. `nil` if `path` does not end at a member.
    public func keyPosition(of path: [PathStep]) -> SourcePosition? {
        let (node, isWhole) = nearest(to: path)
        return isWhole ? node.key : nil
    }

    /// The position to report for `path`: that of the value, or of its name if the value begins on
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
