import EngineTestKit
import SyncCore
import Testing

/// A conversation of several clients with an engine, as a table of lines.
///
///     connect NAME [uid=N] [user=NAME] [gid=N] [login=N]     NAME is any word; `root` is uid 0
///     NAME> METHOD {params}                        a request; ids count up
///     NAME> METHOD {params} !                      the same without waiting for anything to happen
///     NAME>> TEXT                                  a frame as it is
///     NAME< PATTERN                                the next frame that NAME got
///     hold, commit, fail, release                  batches stay under way until told
///     hold-fetches, fetch                          reads of the store too
///     refuse NAME...                               the store refuses those forms' edits
///     settle, crash, pass MS, disconnect NAME, stop NAME, read NAME, closed NAME
///
/// A pattern is JSON: an object matches one that has its members (`"!name": 0`: has not), `"*"`
/// anything, `"~text"` a string with that in it, `"$name"` binds or equals a variable, which requests
/// may use as `$name`. `@name` stands for a definition. Empty lines and those with `#` are passed over.
/// At the end nobody must have a frame left: who is not named was not disturbed.
struct Conversation {
    let host: EngineHost
    private var clients: [String: ConnectionID] = [:]
    private var order: [String] = []
    private var inboxes: [String: [String]] = [:]
    private(set) var variables: [String: JSON] = [:]
    private var definitions: [String: String] = [:]
    private var nextID = 1

    init(_ definitions: [String: String] = Forms.all, host: EngineHost? = nil) throws {
        self.host = try host ?? EngineHost()
        self.definitions = definitions
    }

    /// Root creates a form, which is not durable yet.
    static let heldCreation = #"""
        connect root
        connect alice
        hold
        root> form.apply {"definition":@ice} !

        """#

    /// Plays a table on a fresh engine.
    static func play(
        _ table: String, host: EngineHost? = nil, location: SourceLocation = #_sourceLocation
    ) throws {
        var conversation = try Conversation(host: host)
        try conversation.play(table, location: location)
    }

    /// Plays a table.
    mutating func play(
        _ table: String, location: SourceLocation = #_sourceLocation
    ) throws {
        for (number, line) in table.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let text = String(line).trimmed
            if text.isEmpty || text.hasPrefix("#") { continue }
            let place = SourceLocation(
                fileID: location.fileID, filePath: location.filePath,
                line: location.line + number + 1, column: 1)
            try step(text, place)
        }
        collect()
        for name in order {
            #expect(
                inboxes[name, default: []].isEmpty, "\(name) got frames that nobody spoke of",
                sourceLocation: location)
        }
    }

    private mutating func step(_ text: String, _ place: SourceLocation) throws {
        if let cut = text.firstRange(of: ">> ") {
            host.send(try client(text[..<cut.lowerBound], place), expand(text[cut.upperBound...]))
            host.settle()
        } else if let cut = text.firstRange(of: "> ") {
            try ask(String(text[..<cut.lowerBound]), String(text[cut.upperBound...]), place)
        } else if let cut = text.firstRange(of: "< ") {
            expect(String(text[..<cut.lowerBound]), String(text[cut.upperBound...]), place)
        } else {
            try command(text.split(separator: " ").map(String.init), place)
        }
    }

    private func client(_ name: some StringProtocol, _ place: SourceLocation) throws -> ConnectionID
    {
        try #require(clients[String(name)], "no client \(name)", sourceLocation: place)
    }

    private mutating func ask(_ name: String, _ text: String, _ place: SourceLocation) throws {
        let id = try client(name, place)
        var words = text
        let isQuick = words.hasSuffix(" !")
        if isQuick { words.removeLast(2) }
        let cut = words.firstIndex(of: " ") ?? words.endIndex
        let params = expand(words[cut...])
        host.send(
            id,
            #"{"jsonrpc":"2.0","id":\#(nextID),"method":"\#(words[..<cut])","params":"#
                + (params.trimmed.isEmpty ? "{}" : params) + "}")
        nextID += 1
        if !isQuick { host.settle() }
    }

    private func expand(_ text: some StringProtocol) -> String {
        var text = String(text)
        for (name, body) in definitions.sorted(by: { $0.key.count > $1.key.count }) {
            text.replace("@" + name, with: body)
        }
        for (name, value) in variables.sorted(by: { $0.key.count > $1.key.count }) {
            text.replace("$" + name, with: value.stringValue ?? value.encodedText)
        }
        return text
    }

    private mutating func collect() {
        for name in order {
            guard let id = clients[name] else { continue }
            inboxes[name, default: []] += host.take(id)
        }
    }

    private mutating func expect(_ name: String, _ pattern: String, _ place: SourceLocation) {
        collect()
        guard let frame = inboxes[name]?.first else {
            Issue.record("\(name) got nothing; expected \(pattern)", sourceLocation: place)
            return
        }
        inboxes[name]?.removeFirst()
        do {
            let wanted = try JSON(parsing: Array(pattern.utf8))
            let got = try JSON(parsing: Array(frame.utf8))
            if let fault = mismatch(wanted, got, at: "") {
                Issue.record("\(name): \(fault)\n    in \(frame)", sourceLocation: place)
            }
        } catch {
            Issue.record("\(error) in \(pattern) or \(frame)", sourceLocation: place)
        }
    }

    private mutating func mismatch(_ wanted: JSON, _ got: JSON, at path: String) -> String? {
        switch (wanted, got) {
        case (.string("*"), _): return nil
        case (.string(let text), _) where text.hasPrefix("~"):
            let found = got.stringValue?.contains(text.dropFirst()) ?? false
            return found ? nil : "\(path) does not say \(text.dropFirst()): \(got.encodedText)"
        case (.string(let text), _) where text.hasPrefix("$"):
            let name = String(text.dropFirst())
            guard let known = variables[name] else {
                variables[name] = got
                return nil
            }
            return known == got ? nil : "\(path) is not \(text)"
        case (.object(let members), .object(let object)):
            for (name, value) in members.members {
                if name.hasPrefix("!") {
                    if object[String(name.dropFirst())] != nil { return "\(path).\(name) is there" }
                    continue
                }
                guard let found = object[name] else { return "\(path).\(name) is missing" }
                if let fault = mismatch(value, found, at: "\(path).\(name)") { return fault }
            }
            return nil
        case (.array(let values), .array(let elements)):
            guard values.count == elements.count else {
                return "\(path) has \(elements.count) elements, not \(values.count)"
            }
            for (place, (value, element)) in zip(values, elements).enumerated() {
                if let fault = mismatch(value, element, at: "\(path)[\(place)]") { return fault }
            }
            return nil
        default:
            return wanted == got
                ? nil : "\(path) is \(got.encodedText), not \(wanted.encodedText)"
        }
    }

    private mutating func command(_ words: [String], _ place: SourceLocation) throws {
        switch words[0] {
        case "connect": connect(words)
        case "hold": host.holdsCommits = true
        case "commit":
            host.commit()
            host.settle()
        case "fail":
            host.failCommit()
            host.settle()
        case "release":
            host.holdsCommits = false
            host.commit()
            host.settle()
        case "refuse": host.refuseForms(Set(words.dropFirst()))
        case "hold-fetches": host.holdsFetches = true
        case "fetch":
            host.answerFetches()
            host.settle()
        case "settle": host.settle()
        case "crash":
            collect()
            try host.crash()
        case "pass": host.pass(milliseconds: Int64(words[1]) ?? 0)
        case "disconnect":
            collect()
            host.disconnect(try client(words[1], place))
            host.settle()
        case "stop": host.stopped.insert(try client(words[1], place))
        case "read": host.resumeReading(try client(words[1], place))
        case "closed":
            #expect(
                host.closed.contains(try client(words[1], place)), "\(words[1]) is not closed",
                sourceLocation: place)
        case "shutdown":
            host.run(.stop(.restart))
            host.settle()
        default: Issue.record("no line of ours: \(words)", sourceLocation: place)
        }
    }

    private mutating func connect(_ words: [String]) {
        let name = words[1]
        var uid: UInt32 = name == "root" ? 0 : 1000 + UInt32(order.count)
        var user = name
        var groups: [UInt32] = []
        var login: UInt32?
        var isLoginKnown = true
        for word in words.dropFirst(2) {
            let parts = word.split(separator: "=").map(String.init)
            switch parts[0] {
            case "uid": uid = UInt32(parts[1]) ?? 0
            case "user": user = parts[1]
            case "login":
                login = UInt32(parts[1])
                isLoginKnown = login != nil
            default: groups.append(UInt32(parts[1]) ?? 0)
            }
        }
        collect()
        clients[name] = host.connect(
            uid: uid, user: user, groups: groups, loginUID: login,
            isLoginKnown: isLoginKnown)
        if !order.contains(name) { order.append(name) }
        host.settle()
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = Substring(self)
        while text.first?.isWhitespace ?? false { text.removeFirst() }
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return String(text)
    }
}

/// The forms that conversations are about.
enum Forms {
    static let all = [
        "ice": ice, "policies": policies, "guarded": guarded, "odd": odd, "conditions": conditions,
    ]

    static let ice = #"""
        {"form":"ice","fields":[{"id":"flavor","type":"picker","options":["chocolate","vanilla","strawberry"]},{"id":"scoops","type":"stepper","min":1,"max":5,"default":2},{"id":"days","type":"picker","multiple":true,"options":["mon","tue","wed"],"default":["mon"]},{"id":"note","type":"text","maxLength":20},{"id":"go","type":"button"}]}
        """#

    static let policies = #"""
        {"form":"policies","fields":[{"id":"ask","type":"picker","options":["a","b","c"],"onConflict":"ask"},{"id":"latest","type":"picker","options":["a","b","c"]},{"id":"first","type":"picker","options":["a","b","c"],"onConflict":"first"},{"id":"stop","type":"toggle","onConflict":"trueWins"},{"id":"consent","type":"toggle","onConflict":"falseWins","default":false}]}
        """#

    static let guarded = #"""
        {"form":"guarded","access":{"read":["user:alice","user:bob"],"write":["user:alice"],"press":["user:bob"]},"fields":[{"id":"name","type":"text"},{"id":"mine","type":"text","access":{"write":["user:bob"]}},{"id":"shadow","type":"text","binds":"name","access":{"write":["user:bob"]}},{"id":"all","type":"toggle","sources":["x","y"],"access":{"write":["anyone"]}},{"id":"x","type":"toggle"},{"id":"y","type":"toggle","access":{"write":["anyone"]}},{"id":"fixed","type":"text","locked":true,"access":{"write":["anyone"]}},{"id":"password","type":"secure","maxLength":8,"access":{"reveal":["user:bob"]}},{"id":"go","type":"button"}]}
        """#

    static let odd = #"""
        {"form":"odd","fields":[{"id":"when","type":"wheels","components":[{"id":"month","options":["jan","feb"]},{"id":"day","options":[1,2,3]}],"optionsFor":[{"component":"day","when":{"month":"feb"},"options":[1,2]}]},{"id":"bold","type":"toggle","sources":["b1","b2"]},{"id":"b1","type":"toggle"},{"id":"b2","type":"toggle"},{"id":"title","type":"text"},{"id":"copy","type":"text","binds":"title"},{"id":"shown","type":"label","text":"Title: ${title}"},{"id":"volume","type":"slider","min":0,"max":10,"step":0.5},{"id":"level","type":"gauge","min":0,"max":100},{"id":"pin","type":"secure"}]}
        """#

    static let conditions = #"""
        {"form":"conditions","fields":[{"id":"on","type":"toggle"},{"id":"name","type":"text","enabledWhen":{"on":true}},{"id":"never","type":"text","disabled":true},{"id":"must","type":"text","required":true},{"id":"send","type":"button","enabledWhen":"complete"}]}
        """#
}
