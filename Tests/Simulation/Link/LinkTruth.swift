// What the messages of the server contain: the oracle's own reading of them.

internal import EngineTestKit
package import SyncCore

/// The contents of all messages that the server ever took.
struct LinkTruth {
    private struct Part {
        let form: String
        let message: String
        let index: Int
        let count: Int
    }

    private var parts: [Part?] = []
    private var pieces: [String: [Int: [UInt8]]] = [:]
    private var contents: [String: CausalContext] = [:]
    /// What the log had at some time, by form.
    private(set) var ever: [String: CausalContext] = [:]
    private let keys = LinkKeys.forTests()

    /// How many messages were read.
    var count: Int { parts.count }

    /// Reads the messages that are new.
    mutating func read(_ messages: [LinkPublication]) {
        for message in messages[parts.count...] { parts.append(open(message)) }
    }

    private mutating func open(_ message: LinkPublication) -> Part? {
        guard let subject = LinkSubject(message.subject), let form = subject.form,
            let headers = try? LinkHeaders(message.headers),
            let piece = try? LinkMessage(
                subject: subject, headers: headers, body: message.payload
            ).open(with: keys)
        else { return nil }
        let id = "\(subject.text) \(headers.run) \(headers.number)"
        pieces[id, default: [:]][headers.part.index] = piece
        if let all = pieces[id], all.count == headers.part.count {
            let content = (1...headers.part.count).flatMap { all[$0] ?? [] }
            var context = CausalContext()
            for item in (try? LinkItem.decode(content)) ?? [] {
                context.formUnion(LinkContent.dots(item, of: form) ?? CausalContext())
            }
            contents[id] = context
            ever[form, default: CausalContext()].formUnion(context)
        }
        return Part(
            form: form, message: id, index: headers.part.index, count: headers.part.count)
    }

    /// What the complete messages among these contain, by form.
    func contents(of places: some Sequence<Int>) -> [String: CausalContext] {
        var found: [String: CausalContext] = [:]
        var seen: [String: Set<Int>] = [:]
        for place in places {
            guard let part = parts[place] else { continue }
            guard seen[part.message, default: []].insert(part.index).inserted,
                seen[part.message]?.count == part.count, let content = contents[part.message]
            else {
                continue
            }
            found[part.form, default: CausalContext()].formUnion(content)
        }
        return found
    }
}
