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
    func seen(_ claim: CausalContext?, _ form: LiveForm) -> Seen {
        claim.map { .context($0.clipped(to: form.working.context)) } ?? .present
    }

    func seen(
        _ token: String?, _ form: LiveForm, path: @autoclosure () -> String
    ) throws(WireError) -> Seen {
        guard let token else { return .present }
        return seen(try parse(token, path: path()), form)
    }
}

extension CausalContext {
    /// The basis of the token in the answer to a transaction: the claim that all others include. It
    /// never says more than each change's token did.
    static func included(inAll claims: [CausalContext]) -> CausalContext {
        guard var least = claims.first else { return CausalContext() }
        for claim in claims where claim.isSubset(of: least) { least = claim }
        return claims.allSatisfy(least.isSubset(of:)) ? least : CausalContext()
    }
}
