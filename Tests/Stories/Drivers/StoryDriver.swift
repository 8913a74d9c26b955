// The product as stories use it: an engine in this process, or a daemon.

import SyncCore

/// Runs the product.
protocol StoryDriver: AnyObject {
    /// Root, the daemon's user, and others.
    var users: [StoryUser] { get }
    /// Whether there are connections of commands, whose numbers are not known.
    var isAnonymous: Bool { get }
    /// Connects a user. Returns the daemon's number of the connection.
    func connect(_ user: StoryUser) throws -> Int
    /// Closes a connection.
    func disconnect(_ connection: Int) throws
    /// Sends a request.
    func send(_ connection: Int, _ text: String) throws
    /// Runs the product until each connection has so many answers more, or nothing is left to do.
    func settle(answers: [Int: Int]) throws
    /// Lets the product run for a moment. Returns whether more frames may come.
    func waitForMore() throws -> Bool
    /// Removes and returns the frames of a connection, in order.
    func take(_ connection: Int) throws -> [JSON]
    /// Stops the daemon; returns whether all that it answered is in the store.
    func stop() throws -> Bool
    /// Kills the daemon. What was sent and not answered may be done or not: `writesBatch` says
    /// which, where the driver can choose.
    func kill(writesBatch: Bool) throws
    /// Starts the daemon again, with a store that works.
    func start() throws
    /// Time passes.
    func pass(milliseconds: Int) throws
    /// The present time, and the time up to which the daemon had an opportunity to write (`nil` if
    /// that is not known), both in milliseconds.
    var times: (now: Int, written: Int?) { get }
    /// Until the requests that are sent next are answered, nothing is made durable, if the driver
    /// can do that.
    func holdCommits()
    /// Until the requests that are sent next are answered, the store does not answer, if the driver
    /// can do that.
    func holdFetches()
    /// The store cannot write from now on; false if the driver cannot do that.
    ///
    /// - Parameter writesBatch: the first commit that fails has reached the disk all the same.
    func breakStore(writesBatch: Bool) -> Bool
    /// The store can write again, and the daemon has had the time to notice.
    func mendStore() throws
}
