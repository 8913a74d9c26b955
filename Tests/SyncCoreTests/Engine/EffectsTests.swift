import Testing

@testable import SyncCore

/// The buffer of what the engine wants done, alone.
@Suite struct EffectsTests {
    private func close(_ effect: Effect) -> UInt64? {
        if case .close(let id) = effect { id.number } else { nil }
    }

    @Test("effects leave in order, after those that the shell already has")
    func order() {
        var effects = Effects()
        var shell: [Effect] = []
        effects.append(.close(ConnectionID(1)))
        effects.log(LogEntry(.info, "a line"))
        effects.append(.close(ConnectionID(2)))
        effects.drain(into: &shell)
        #expect(shell.map(close) == [1, nil, 2])
        effects.append(.close(ConnectionID(3)))
        effects.drain(into: &shell)
        effects.drain(into: &shell)
        #expect(shell.map(close) == [1, nil, 2, 3])
    }

    @Test("each is cut off once, however often it was found to be too far behind")
    func cutOffs() {
        var effects = Effects()
        let (alice, bob) = (Account(uid: 1), Account(uid: 2))
        for account in [alice, bob, alice] { effects.cutOff(.greedy(account)) }
        var users: [UInt32] = []
        for case .greedy(let account) in effects.takeCutOffs() { users.append(account.uid) }
        #expect(users == [1, 2])
        #expect(effects.takeCutOffs().isEmpty)
        var shell: [Effect] = []
        effects.drain(into: &shell)
        #expect(shell.isEmpty, "cutting off is for the end of the iteration")
    }
}
