/// The subscribers of one form that belong to one uid. There may be thousands, so each change
/// visits them in parts, which are charged to that uid.
final class Audience {
    let account: Account
    private(set) var members: [Subscription] = []
    /// The next member to be visited, and how many remain.
    private var next = 0
    private(set) var unvisited = 0

    init(_ account: Account) { self.account = account }

    func add(_ subscription: Subscription) {
        subscription.index = UInt32(members.count)
        members.append(subscription)
    }

    /// Removes a member. The last member takes its place and is visited again if it could have been
    /// skipped.
    func remove(_ subscription: Subscription) {
        let index = Int(subscription.index)
        guard index < members.count, members[index] === subscription else { return }
        let last = members.removeLast()
        if last !== subscription {
            members[index] = last
            last.index = UInt32(index)
        }
        if unvisited > 0 { unvisited = members.count }
    }

    func startVisit() { unvisited = members.count }

    /// Passes at most `max` members to `body` and returns how many.
    @inline(__always)
    func visit(atMost max: Int, _ body: (Subscription) -> Void) -> Int {
        let count = min(max, unvisited)
        for _ in 0..<count {
            if next >= members.count { next = 0 }
            body(members[next])
            next += 1
        }
        unvisited -= count
        return count
    }
}
