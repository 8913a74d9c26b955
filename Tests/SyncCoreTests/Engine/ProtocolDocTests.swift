import EngineTestKit
import Foundation
import SyncCore
import TestKit
import Testing

/// `docs/PROTOCOL.md` is correct: its examples are sent to an engine in order, and the received
/// frames are those in the page.
///
/// A fenced block is `json request`, `json answer` or `json notification`, with the name of the
/// client unless it is alice. Values of `at`, `log`, `replica`, `pid` and `ticket` are the engine's; `"…":
/// "…"` means members that are left out.
@Suite struct EngineProtocolDocTests {
    struct Block {
        let kind: String
        let client: String
        let text: String
        let line: Int
    }

    private static var page: URL { sourceTree.appending(path: "docs/PROTOCOL.md") }

    static func blocks(of text: String) -> [Block] {
        var blocks: [Block] = []
        var open: (words: [String], line: Int)?
        var body: [Substring] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            guard line.hasPrefix("```") else {
                body.append(line)
                continue
            }
            if let (words, start) = open {
                if words.count > 1, words[0] == "json" {
                    blocks.append(
                        Block(
                            kind: words[1], client: words.count > 2 ? words[2] : "alice",
                            text: body.joined(separator: "\n"), line: start))
                }
                open = nil
            } else {
                open = (line.dropFirst(3).split(separator: " ").map(String.init), number + 1)
            }
            body = []
        }
        return blocks
    }

    @Test("every example of docs/PROTOCOL.md is what the daemon says")
    func examples() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let blocks = Self.blocks(of: text)
        #expect(blocks.count > 30)
        let host = try EngineHost()
        var clients: [String: ConnectionID] = [:]
        var inboxes: [String: [String]] = [:]
        for block in blocks {
            if clients[block.client] == nil {
                // alice runs the daemon; the others are other users.
                clients[block.client] = host.connect(
                    uid: block.client == "alice" ? 900 : 1001, user: block.client)
            }
            if block.kind == "request" {
                host.send(try #require(clients[block.client]), block.text)
                host.settle()
            }
            for (name, id) in clients { inboxes[name, default: []] += host.take(id) }
            guard block.kind != "request" else { continue }
            let frames = inboxes[block.client] ?? []
            guard let frame = frames.first else {
                Issue.record("line \(block.line): nothing came")
                continue
            }
            inboxes[block.client] = Array(frames.dropFirst())
            let wanted = try JSON(parsing: Array(block.text.utf8))
            let got = try JSON(parsing: Array(frame.utf8))
            if let fault = Self.mismatch(wanted, got, "") {
                Issue.record("line \(block.line): \(fault)\nFRAME \(block.line) \(frame)")
            }
        }
        let left = inboxes.values.flatMap(\.self)
        #expect(left.isEmpty, "the page leaves out frames")
    }

    private static func mismatch(_ wanted: JSON, _ got: JSON, _ path: String) -> String? {
        switch (wanted, got) {
        case (.object(let members), .object(let object)):
            let isOpen = members["…"] != nil
            for (name, value) in members.members where name != "…" {
                guard let found = object[name] else { return "\(path).\(name) is not there" }
                if ["at", "log", "replica", "pid", "ticket"].contains(name) { continue }
                if let fault = mismatch(value, found, "\(path).\(name)") { return fault }
            }
            if isOpen { return nil }
            let left = object.members.first { members[$0.name] == nil }
            return left.map { "\(path).\($0.name) is not shown" }
        case (.array(let values), .array(let elements)) where values.count == elements.count:
            for (place, (value, element)) in zip(values, elements).enumerated() {
                if let fault = mismatch(value, element, "\(path)[\(place)]") { return fault }
            }
            return nil
        default: return wanted == got ? nil : "\(path) is \(got.encodedText)"
        }
    }

    @Test("the bytes of the frame that docs/PROTOCOL.md shows are those of its request")
    func hexExample() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("000000") }
        let bytes = rows.flatMap { row in
            row.dropFirst(8).prefix(51).split(separator: " ").compactMap { UInt8($0, radix: 16) }
        }
        let request = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
        #expect(bytes == Frame.encode(text: Array(request.utf8)))
    }

    @Test("docs/PROTOCOL.md has a row for every kind of error, method and notification")
    func complete() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        for kind in ErrorKind.allCases {
            #expect(text.contains("| \(kind.code) | `\(kind.rawValue)` |"), "\(kind)")
        }
        for method in Method.allCases {
            #expect(text.contains("`\(method.rawValue)`"), "\(method.rawValue)")
        }
        let notifications = [
            "state.changed", "form.changed", "presence.changed", "button.assigned",
            "button.cancelled", "button.progress", "proposal.changed", "goodbye",
            "link.do",
        ]
        for name in notifications {
            #expect(text.contains("`\(name)`"), "\(name)")
        }
    }

    @Test("docs/protocol.openrpc.json describes every method, param, error and notification")
    func description() throws {
        let file = Self.page.deletingLastPathComponent().appending(path: "protocol.openrpc.json")
        let json = try JSON(parsing: [UInt8](Data(contentsOf: file)))
        func names(_ member: JSON?) -> [String] {
            (member?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
        }
        #expect(Set(names(json["methods"])) == Set(Method.allCases.map(\.rawValue)))
        #expect(
            names(json["x-notifications"]).sorted()
                == [
                    "button.assigned", "button.cancelled", "button.progress", "form.changed",
                    "goodbye", "link.do", "presence.changed", "proposal.changed", "state.changed",
                ])
        let errors = try #require(json["components"]?["errors"]?.objectValue)
        #expect(Set(errors.members.map(\.name)) == Set(ErrorKind.allCases.map(\.rawValue)))
        for kind in ErrorKind.allCases {
            #expect(errors[kind.rawValue]?["code"] == .integer(Int64(kind.code)), "\(kind)")
        }
        for method in json["methods"]?.arrayValue ?? [] {
            for error in method["errors"]?.arrayValue ?? [] {
                let kind = error["$ref"]?.stringValue?.split(separator: "/").last.map(String.init)
                #expect(kind.flatMap { ErrorKind(rawValue: $0) } != nil, "\(error.encodedText)")
            }
        }
    }
}
