// What stories are told to: an engine in this process, or a daemon.

import SyncCore

/// The product, from outside.
protocol StoryDriver: AnyObject {
    /// Root, whom the daemon runs as, and two others.
    var users: [StoryUser] { get }
    /// Whether others connect whose numbers nobody knows.
    var isAnonymous: Bool { get }
    /// Somebody connects; the number that the daemon knows the connection by.
    func connect(_ user: StoryUser) throws -> Int
    /// Somebody goes without a word.
    func disconnect(_ connection: Int) throws
    /// Puts a request on the wire.
    func send(_ connection: Int, _ text: String) throws
    /// Lets things happen until each connection has so many answers more, or nothing happens.
    func settle(answers: [Int: Int]) throws
    /// Gives the product a moment; whether more may come of it.
    func waitForMore() throws -> Bool
    /// What has come for a connection, in order.
    func take(_ connection: Int) throws -> [JSON]
    /// Stopped as asked.
    func stop() throws
    /// Killed. What was sent and not answered may be done or not: `writesBatch` says which, where
    /// the driver can choose.
    func kill(writesBatch: Bool) throws
    /// Started again.
    func start() throws
    /// Time passes.
    func pass(milliseconds: Int) throws
    /// From here on what changes is not made durable, where the driver can hold it back.
    func holdCommits()
    /// From here on the store answers late, where the driver can hold it back.
    func holdFetches()
}
