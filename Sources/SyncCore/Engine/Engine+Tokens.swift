// What the sender of an edit says that it has seen (CAUSALITY.md, 2 and 3).

extension Engine {
    func parse(_ token: String, path: String) throws(WireError) -> CausalContext {
        do {
            return try ContextToken.parse(token)
        } catch {
            switch error {
            case .limit:
                throw .limit(
                    "contextBytesMax", max: Int64(ContextToken.bytesMax),
                    "the context has more than \(ContextToken.bytesMax) bytes")
            case .invalid(let offset, let expected):
                throw WireError(
                    .invalidParams,
                    "\(path) is not a token of this daemon: byte \(offset) should be "
                        + "\(expected); send back a token of one of its answers",
                    path: path, expected: expected)
            }
        }
    }

    /// What the sender of an edit had seen by its token, cut to what this store knows; the
    /// transaction adds what the same connection wrote itself (CAUSALITY.md, 2).
    func seen(
        _ token: String?, _ form: LiveForm, path: String
    ) throws(WireError) -> Seen {
        guard let token else { return .present }
        return .context(try parse(token, path: path).clipped(to: form.working.context))
    }

    /// What the answer's token goes on from: the request's, else the oldest of its changes' where
    /// all others say as much. It never claims more than each part of the request did.
    func shown(_ params: StateSet) throws(WireError) -> CausalContext {
        if let token = params.context { return try parse(token, path: "context") }
        var shown: CausalContext?
        for token in params.changes.compactMap(\.context) {
            let one = try parse(token, path: "context")
            guard let known = shown else {
                shown = one
                continue
            }
            if one.isSubset(of: known) {
                shown = one
            } else if !known.isSubset(of: one) {
                return CausalContext()
            }
        }
        return shown ?? CausalContext()
    }
}
