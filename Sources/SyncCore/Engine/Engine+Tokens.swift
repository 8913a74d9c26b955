// What the sender of an edit has seen (CAUSALITY.md, 2 and 3).

extension Engine {
    func parse(
        _ token: String, path: @autoclosure () -> String
    ) throws(WireError) -> CausalContext {
        if token.isEmpty { return CausalContext() }
        do { return try ContextToken.parse(token) } catch {
            switch error {
            case .limit:
                throw .limit(
                    "contextBytesMax", max: ContextToken.bytesMax,
                    "the context has more than \(ContextToken.bytesMax) bytes")
            case .invalid(let offset, let expected):
                let path = path()
                throw WireError(
                    .invalidParams,
                    "\(path) is not a token of this daemon: byte \(offset) should be "
                        + "\(expected); send back a token of one of its answers",
                    path: path, expected: expected)
            }
        }
    }

    /// What the sender has seen according to its token, limited to what this store knows. The
    /// transaction adds the connection's own writes (CAUSALITY.md, 2).
    func seen(
        _ token: String?, _ form: LiveForm, path: @autoclosure () -> String
    ) throws(WireError) -> Seen {
        guard let token else { return .present }
        return .context(try parse(token, path: path()).clipped(to: form.working.context))
    }

    /// The basis of the token in the answer: the request's token, or the token of its changes that
    /// all others include. It never claims more than each part of the request did.
    func shown(_ params: StateSet) throws(WireError) -> CausalContext {
        if let token = params.context { return try parse(token, path: "context") }
        // Nobody's claim is less than that of who has seen nothing.
        if params.changes.contains(where: { $0.context?.isEmpty ?? false }) {
            return CausalContext()
        }
        var claims: [CausalContext] = []
        for token in params.changes.lazy.compactMap(\.context) {
            claims.append(try parse(token, path: "context"))
        }
        guard var least = claims.first else { return CausalContext() }
        for claim in claims where claim.isSubset(of: least) { least = claim }
        return claims.allSatisfy(least.isSubset(of:)) ? least : CausalContext()
    }
}
