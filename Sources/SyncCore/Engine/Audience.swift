/// The subscribers of one form that belong to one uid: they are marked as ready in its turn and at
/// its cost, as there may be thousands.
final class Audience {
    let account: Account
    private(set) var members: [Subscription] = []
    /// The member that is marked next, and how many are to be.
    private var next = 0
    private(set) var unmarked = 0

    init(_ account: Account) {
        self.account = account
    }

    func add(_ subscription: Subscription) {
        subscription.index = UInt32(members.count)
        members.append(subscription)
    }

    /// Takes a member out; the last one takes its place, and is marked once more where it might
    /// have been passed over.
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

    /// All are to be marked.
    func hasNews() {
        unmarked = members.count
    }

    /// Marks some; gives how many.
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
