/// The subscribers of one form that belong to one uid. There may be thousands, so they are marked
/// as ready in the turn of that uid and charged to it.
final class Audience {
    let account: Account
    private(set) var members: [Subscription] = []
    /// The next member to be marked, and how many remain.
    private var next = 0
    private(set) var unmarked = 0

    init(_ account: Account) { self.account = account }

    func add(_ subscription: Subscription) {
        subscription.index = UInt32(members.count)
        members.append(subscription)
    }

    /// Removes a member. The last member takes its place and is marked again if it could have been
    /// skipped.
    func remove(_ subscription: Subscription) {
        let index = Int(subscription.index)
        guard index < members.count, members[index] === subscription else { return }
        let last = members.removeLast()
        if last !== subscription {
            members[index] = last
            last.index = UInt32(index)
        }
        if unmarked > 0 { unmarked = members.count }
    }

    /// Starts marking all members.
    func hasNews() { unmarked = members.count }

    /// Marks at most `max` members and returns how many.
    func mark(atMost max: Int, _ body: (Subscription) -> Void) -> Int {
        let count = min(max, unmarked)
        for _ in 0..<count {
            if next >= members.count { next = 0 }
            body(members[next])
            next += 1
        }
        unmarked -= count
        return count
    }
}
