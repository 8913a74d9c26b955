// An edit that a client of the simulation sent, and what its sender had seen.

import SyncCore

/// A part of what a client has been shown, to be looked up when it matters.
enum Glimpse: Hashable {
    /// Everything up to a revision of a line.
    case upTo(line: Int, revision: Int64)
    /// What a request made.
    case request(Int)
    /// What a token says of writes that nobody was told of.
    case token(String)
}

/// An edit that a client sent.
final class SentEdit {
    let number: Int
    let request: Request
    let owner: Owner
    /// What the sender had seen, for each change of a `state.set`; `nil`: whatever is there.
    let sights: [[Glimpse]?]
    /// It was answered with a result.
    var isAnswered = false
    /// It was refused for good.
    var isRefused = false

    init(_ number: Int, _ request: Request, owner: Owner, sights: [[Glimpse]?] = []) {
        self.number = number
        self.request = request
        self.owner = owner
        self.sights = sights
    }
}
