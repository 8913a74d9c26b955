internal import SyncCore

// Composes YAML's events to a value and the positions of its parts (YAML 1.2.2, 3.1: compose and
// construct, in one pass).
//
// Invariants: the value has at most `nodesMax` nodes and `bytesMax` bytes of text *after* aliases
// and merges are expanded, and nests at most `depthMax` deep. After an issue, reading continues if
// the rest can be understood. A syntax error or an exceeded limit ends it.

struct YAMLComposer: ~Copyable {
    /// A value with its positions, and what each use of its alias costs.
    private struct Node {
        var json: JSON
        var source: SourceNode
        /// Values in it, itself included.
        var nodes = 1
        /// Bytes of text in it, names of members included.
        var textBytes = 0
        /// The nesting depth of arrays and objects in it.
        var height = 0
    }

    private enum Anchor {
        /// The anchored node has not ended: an alias to it would be a cycle.
        case open
        case whole(Node)
    }

    /// The text cannot be read further; `issues` has the reason.
    private struct Stop: Error {}

    private var reader: YAMLEventReader
    private let name: String
    private let limits: YAMLDocument.Limits
    private let text: [UInt8]
    private var anchors: [String: Anchor] = [:]
    private var path: [PathStep] = []
    private var nodes = 0
    private var textBytes = 0
    private(set) var issues: [FileIssue] = []

    init(_ text: [UInt8], name: String, limits: YAMLDocument.Limits) {
        reader = YAMLEventReader(text)
        self.text = text
        self.name = name
        self.limits = limits
    }

    /// The document's value; `nil` if an issue stopped the reading.
    mutating func compose() -> SourceTree? {
        do throws(Stop) {
            var root = Node(
                json: .null, source: SourceNode(value: SourcePosition(line: 1, column: 1)))
            var documents = 0
            while true {
                let event = try next()
                switch event.kind {
                case .streamStart, .documentEnd: continue
                case .streamEnd: return SourceTree(name: name, json: root.json, source: root.source)
                case .documentStart where documents == 0: documents = 1
                case .documentStart:
                    note("a second document", at: event.position, expected: "one document a file")
                    return nil
                default: root = try node(event, depth: 0)
                }
            }
        } catch {
            return nil
        }
    }

    // MARK: Nodes

    private mutating func node(_ event: YAMLEvent, depth: Int) throws(Stop) -> Node {
        if case .alias(let anchor) = event.kind {
            return try expand(anchor, at: event.position, depth: depth)
        }
        if let anchor = event.anchor { anchors[anchor] = .open }
        let node: Node
        switch event.kind {
        case .sequenceStart: node = try sequence(event, depth: depth + 1)
        case .mappingStart: node = try mapping(event, depth: depth + 1)
        case .scalar(let text, let isPlain):
            try spend(nodes: 1, textBytes: text.utf8.count, at: event.position)
            node = Node(
                json: value(of: text, isPlain: isPlain, event),
                source: SourceNode(value: event.position), textBytes: text.utf8.count)
        // libyaml returns events in the order of its grammar, so no other event is possible here.
        default: throw Stop()
        }
        if let anchor = event.anchor { anchors[anchor] = .whole(node) }
        return node
    }

    private mutating func value(of text: String, isPlain: Bool, _ event: YAMLEvent) -> JSON {
        let resolved: YAMLScalar.Resolved?
        switch event.tag {
        case "!"?: resolved = .value(.string(text))
        case let tag? where isTakenOwn(tag):
            return .object(JSONObject([(tag, .string(text))]))
        case let tag?: resolved = YAMLScalar.resolve(text, tag: tag)
        case nil: resolved = isPlain ? YAMLScalar.resolve(text) : .value(.string(text))
        }
        switch resolved {
        case .value(let json): return json
        case .refused(let message, let expected):
            note(message, at: event.position, expected: expected)
        case nil: noteTag(event)
        }
        return .null
    }

    private mutating func sequence(_ start: YAMLEvent, depth: Int) throws(Stop) -> Node {
        try open(start, tag: "seq", depth: depth)
        var elements: [JSON] = []
        var node = Node(json: .null, source: SourceNode(value: start.position), height: 1)
        while true {
            let event = try next()
            if case .sequenceEnd = event.kind { break }
            path.append(.index(elements.count))
            let element = try self.node(event, depth: depth)
            path.removeLast()
            elements.append(element.json)
            Self.add(element, to: &node)
        }
        node.json = .array(elements)
        return node
    }

    private mutating func mapping(_ start: YAMLEvent, depth: Int) throws(Stop) -> Node {
        try open(start, tag: "map", depth: depth)
        var members = MappingMembers()
        var node = Node(json: .null, source: SourceNode(value: start.position), height: 1)
        while true {
            let event = try next()
            if case .mappingEnd = event.kind { break }
            guard let key = try key(event, depth: depth) else { continue }
            path.append(.key(key.name))
            var member = try self.node(try next(), depth: depth)
            path.removeLast()
            node.textBytes += key.name.utf8.count
            Self.addCost(of: member, to: &node)
            member.source.key = event.position
            if key.isMerge {
                merge(member, at: event.position, into: &members)
            } else if let first = members.add(key.name, member.json, member.source) {
                noteDuplicate(key.name, at: event.position, first: first)
            }
        }
        (node.json, node.source.children) = members.finished()
        return node
    }

    /// The name of a key: the text of the scalar as it is written, because names of members are
    /// strings. `nil` if the key is not a scalar; then an issue was added, and its value is
    /// skipped.
    private mutating func key(
        _ event: YAMLEvent, depth: Int
    ) throws(Stop) -> (name: String, isMerge: Bool)? {
        if case .scalar(let text, let isPlain) = event.kind, event.anchor == nil {
            let isString = event.tag.map { $0 == YAMLScalar.core("str") || $0 == "!" } ?? true
            let isMerge =
                text == "<<"
                && (event.tag == nil && isPlain || event.tag == YAMLScalar.core("merge"))
            if isString && !(text.isEmpty && isPlain) || isMerge {
                try spend(nodes: 0, textBytes: text.utf8.count, at: event.position)
                return (text, isMerge)
            }
        }
        note("a key that is not text", at: event.position, expected: "a word, or text in quotes")
        _ = try node(event, depth: depth)
        _ = try node(try next(), depth: depth)
        return nil
    }

    private mutating func open(_ start: YAMLEvent, tag: String, depth: Int) throws(Stop) {
        if let given = start.tag, given != YAMLScalar.core(tag), given != "!", !isTakenOwn(given) {
            noteTag(start)
        }
        try check(depth: depth, at: start.position)
        try spend(nodes: 1, textBytes: 0, at: start.position)
    }

    private static func add(_ child: Node, to node: inout Node) {
        addCost(of: child, to: &node)
        node.source.children.append(child.source)
    }

    private static func addCost(of child: Node, to node: inout Node) {
        node.nodes += child.nodes
        node.textBytes += child.textBytes
        node.height = max(node.height, child.height + 1)
    }

    // MARK: Aliases and merges

    private mutating func expand(
        _ anchor: String, at position: SourcePosition, depth: Int
    ) throws(Stop) -> Node {
        switch anchors[anchor] {
        case .whole(var node):
            try check(depth: depth + node.height, at: position)
            try spend(nodes: node.nodes, textBytes: node.textBytes, at: position)
            node.source.value = position
            node.source.key = nil
            return node
        case .open:
            note("*\(anchor) is inside what it names", at: position)
        case nil:
            note(
                "*\(anchor) names nothing above it", at: position,
                expected: "an anchor &\(anchor) before it")
        }
        return Node(json: .null, source: SourceNode(value: position))
    }

    /// `<<`: the members of one mapping, or of each in a list, that are not there otherwise
    /// (yaml.org/type/merge.html). The first mapping of a list wins, and members that are written
    /// in the mapping itself win over both.
    private mutating func merge(
        _ node: Node, at position: SourcePosition, into members: inout MappingMembers
    ) {
        if let first = members.mergePosition {
            return noteDuplicate("<<", at: position, first: first)
        }
        members.mergePosition = position
        let sources: [(JSON, SourceNode)]
        switch node.json {
        case .array(let elements): sources = Array(zip(elements, node.source.children))
        default: sources = [(node.json, node.source)]
        }
        for (json, source) in sources {
            guard case .object(let object) = json else {
                note(
                    "<< cannot merge \(json.kindInWords)", at: source.value,
                    expected: "a mapping or a list of mappings")
                continue
            }
            for (member, place) in zip(object.members, source.children) {
                members.merge(member.name, member.value, place)
            }
        }
    }

    // MARK: Bounds

    private mutating func check(depth: Int, at position: SourcePosition) throws(Stop) {
        guard depth > limits.depthMax else { return }
        note(
            "nested too deep", at: position,
            expected: "at most \(limits.depthMax) lists and mappings inside each other")
        throw Stop()
    }

    private mutating func spend(
        nodes: Int, textBytes: Int, at position: SourcePosition
    ) throws(Stop) {
        // Neither sum can overflow: both were within the bounds, and so was every node added.
        self.nodes += nodes
        self.textBytes += textBytes
        guard self.nodes > limits.nodesMax || self.textBytes > limits.bytesMax else { return }
        note(
            "too much once its aliases are written out", at: position,
            expected: "at most \(limits.nodesMax) values and \(limits.bytesMax) bytes of text")
        throw Stop()
    }

    // MARK: Issues

    private mutating func next() throws(Stop) -> YAMLEvent {
        let event: YAMLEvent
        do throws(YAMLSyntaxError) {
            event = try reader.next()
        } catch {
            // At the end of the text libyaml counts one line too many.
            let end = text.position(ofByte: text.count)
            let position = min(error.position ?? text.position(ofByte: error.byteOffset), end)
            var issue = FileIssue(
                file: name, position: position, message: error.message, expected: error.expected)
            if text.indents(withTabAt: position) {
                issue.message = "a tab where spaces indent"
                issue.expected = "spaces"
            }
            issues.append(issue)
            throw Stop()
        }
        // From here on keys, tags and words are compared.
        guard !event.hasTooManyMarks else {
            note(
                JSONError.Reason.tooManyMarks.inWords, at: event.position,
                expected: CombiningMarks.expected)
            throw Stop()
        }
        return event
    }

    private mutating func note(
        _ message: String, at position: SourcePosition, expected: String? = nil
    ) {
        // More issues than the maximum are not shown, so storing them would only cost memory.
        guard issues.count < FileIssues.issuesMax else { return }
        issues.append(
            FileIssue(
                file: name, position: position, path: path, message: message, expected: expected))
    }

    /// `!name`, an application's own tag, if these are accepted.
    private func isTakenOwn(_ tag: String) -> Bool {
        limits.takesOwnTags && tag.utf8.count > 1 && tag.utf8.first == UInt8(ascii: "!")
    }

    private mutating func noteTag(_ event: YAMLEvent) {
        let tag = YAMLScalar.rendered(event.tag ?? "")
        note(
            "the tag \(tag) does not go here", at: event.position,
            expected:
                "none, or one of !!str, !!int, !!float, !!bool, !!null, !!seq, !!map that fits")
    }

    private mutating func noteDuplicate(
        _ key: String, at position: SourcePosition, first: SourcePosition
    ) {
        path.append(.key(key))
        note(
            "the key is there already, at \(first.line):\(first.column)", at: position,
            expected: "each key once")
        path.removeLast()
    }
}

/// The members of a mapping while it is being read.
///
/// A hash table of the names makes reading a mapping of a hundred thousand keys linear. The list
/// gives the order.
private struct MappingMembers {
    private struct Name: Hashable {
        var text: String

        static func == (left: Name, right: Name) -> Bool { left.text.isSameBytes(as: right.text) }

        func hash(into hasher: inout Hasher) {
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }

    private struct Member {
        var name: String
        var json: JSON
        var source: SourceNode
        var isMerged: Bool
    }

    private var members: [Member] = []
    private var indices: [Name: Int] = [:]
    var mergePosition: SourcePosition?

    /// Adds a member that is written in the mapping itself. Returns the position of an existing
    /// member of that name.
    mutating func add(_ name: String, _ json: JSON, _ source: SourceNode) -> SourcePosition? {
        let member = Member(name: name, json: json, source: source, isMerged: false)
        guard let index = indices[Name(text: name)] else {
            indices[Name(text: name)] = members.count
            members.append(member)
            return nil
        }
        guard members[index].isMerged else { return members[index].source.key }
        members[index] = member
        return nil
    }

    /// Adds a member of a merge, unless a member of that name exists.
    mutating func merge(_ name: String, _ json: JSON, _ source: SourceNode) {
        guard indices[Name(text: name)] == nil else { return }
        indices[Name(text: name)] = members.count
        members.append(Member(name: name, json: json, source: source, isMerged: true))
    }

    func finished() -> (JSON, [SourceNode]) {
        var object = JSONObject()
        for member in members { object.append(uniqueName: member.name, member.json) }
        return (.object(object), members.map(\.source))
    }
}
