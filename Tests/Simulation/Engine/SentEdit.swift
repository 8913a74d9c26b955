// An edit that a client of the simulation sent, and what its sender had seen.

import SyncCore

/// What a client had been shown. It is compared when the edit is done.
enum Glimpse: Hashable {
    /// Everything up to a revision of a line.
    case upTo(line: Int, revision: Int64)
    /// The result of a request.
    case request(Int)
    /// Silent writes that a token names.
    case token(String)
}

/// An edit that a client sent.
final class SentEdit {
    let number: Int
    let request: Request
    let owner: Owner
    /// What the sender had seen, for each change of a `state.set`; `nil`: the present state.
    let sights: [[Glimpse]?]
    /// Whether it was answered with a result.
    var isAnswered = false
    /// Whether it was refused finally.
    var isRefused = false

    init(_ number: Int, _ request: Request, owner: Owner, sights: [[Glimpse]?] = []) {
        self.number = number
        self.request = request
        self.owner = owner
        self.sights = sights
    }
}
