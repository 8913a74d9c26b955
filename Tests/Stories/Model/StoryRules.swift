// Requests that are invalid in every state.

import SyncCore

enum StoryRules {
    /// The required and the optional params of each method.
    private static let members: [String: (must: [String], may: [String])] = [
        "hello": (["protocol", "client"], ["session", "tty"]),
        "ping": ([], []),
        "form.list": ([], []),
        "form.watch": ([], []),
        "form.get": (["form"], []),
        "form.apply": (
            ["definition"],
            ["dryRun", "ifVersion", "propose", "breakGlass", "idempotencyKey", "message"]
        ),
        "form.setOptions": (
            ["form", "field", "options"], ["propose", "breakGlass", "idempotencyKey", "message"]
        ),
        "form.delete": (["form"], ["breakGlass", "idempotencyKey", "message"]),
        "state.get": (["form"], ["fields"]),
        "state.set": (
            ["form", "changes"],
            [
                "context", "require", "requireFields", "lease", "propose", "breakGlass",
                "idempotencyKey", "message",
            ]
        ),
        "state.lease": (
            ["form", "field"], ["until", "keep", "end", "resume", "idempotencyKey", "message"]
        ),
        "state.subscribe": (["form"], ["fields", "since", "presence"]),
        "state.unsubscribe": (["form"], []),
        "state.history": (["form"], ["field", "before", "limit"]),
        "history.redact": (["form", "revision"], ["message"]),
        "state.explain": (["form", "field"], ["at"]),
        "state.undo": (["form"], ["field", "scope", "idempotencyKey", "message"]),
        "state.redo": (["form"], ["field", "scope", "idempotencyKey", "message"]),
        "state.reveal": (["form", "field"], []),
        "presence.update": (["form", "focus"], ["draft"]),
        "button.handle": (["form"], ["fields", "tickets"]),
        "button.progress": (["press", "ticket"], ["fraction", "text"]),
        "button.finish": (["press", "ticket", "outcome"], ["text", "status"]),
        "button.cancel": (["form", "field", "press"], []),
        "button.outcome": (["form", "press"], []),
        "proposal.list": ([], ["form", "ended"]),
        "proposal.approve": (["form", "proposal"], ["message"]),
        "proposal.refuse": (["form", "proposal"], ["message"]),
        "proposal.withdraw": (["form", "proposal"], ["message"]),
        "server.status": ([], []),
        "server.backup": ([], ["backup", "offset"]),
        "link.attach": ([], []),
        "link.up": (["maxPayload", "rttUs"], ["server", "version"]),
        "link.down": (["reason"], []),
        "link.message": (["subject", "data"], ["reply", "headers"]),
        "link.repair": (["form"], []),
        "link.test": ([], []),
        "form.link": (["form"], ["how"]),
        "form.unlink": (["form"], []),
    ]

    /// The methods that the model knows.
    static var methods: Set<String> { Set(members.keys) }

    /// The actions of a change. Each has exactly one.
    private static let actions: Set<String> = [
        "value", "increment", "toggle", "move", "reset", "press", "add", "remove",
    ]

    /// The refusal of an invalid request; `nil` if it is valid.
    static func fault(of request: StoryRequest) -> StoryRefusal? {
        guard let known = members[request.method] else { return StoryRefusal("methodNotFound") }
        let invalid = StoryRefusal("invalidParams")
        let names = request.params.members.map(\.name)
        guard known.must.allSatisfy(names.contains) else { return invalid }
        if request.method != "hello" {
            guard names.allSatisfy({ known.must.contains($0) || known.may.contains($0) }) else {
                return invalid
            }
        }
        if request.method == "state.lease" {
            let verbs = ["until", "keep", "end", "resume"].filter { names.contains($0) }
            guard verbs.count == 1 else { return invalid }
        }
        if request.method == "button.progress", request["fraction"] == nil, request["text"] == nil {
            return invalid
        }
        if request["propose"] != nil, request["breakGlass"] != nil { return invalid }
        if let message = request["message"] {
            guard let text = message.stringValue, isMessage(text) else { return invalid }
        }
        for change in request["changes"]?.arrayValue ?? [] {
            let names = change.objectValue?.members.map(\.name) ?? []
            guard names.filter(actions.contains).count == 1, names.contains("field"),
                names.allSatisfy({
                    actions.contains($0) || ["field", "context", "wraps"].contains($0)
                })
            else { return invalid }
        }
        if request["require"] != nil || request["requireFields"] != nil {
            guard request["require"] == "current" else { return invalid }
            let each = request["changes"]?.arrayValue?.allSatisfy { $0["context"] != nil } ?? false
            guard request["context"] != nil || (each && request["requireFields"] == nil) else {
                return invalid
            }
        }
        return nil
    }

    /// Whether a text can say why something is changed, as far as the generator makes others.
    static func isMessage(_ text: String) -> Bool {
        !text.allSatisfy { $0 == " " } && text.count <= 200 && text.utf8.count <= 512
            && !text.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202E }
    }

    /// Whether a name matches a glob of `*` and `?`.
    static func matches(_ name: String, _ glob: String) -> Bool {
        matches(Array(name)[...], Array(glob)[...])
    }

    private static func matches(
        _ name: ArraySlice<Character>, _ glob: ArraySlice<Character>
    ) -> Bool {
        guard let first = glob.first else { return name.isEmpty }
        if first == "*" {
            return matches(name, glob.dropFirst())
                || !name.isEmpty && matches(name.dropFirst(), glob)
        }
        guard let letter = name.first, first == "?" || first == letter else { return false }
        return matches(name.dropFirst(), glob.dropFirst())
    }

    static func isGlob(_ name: String) -> Bool { name.contains("*") || name.contains("?") }
}
