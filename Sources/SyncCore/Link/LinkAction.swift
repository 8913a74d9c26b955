// What a link asks of its daemon, and what goes between both.

/// What goes to the bridge, to be published.
package struct LinkPublication: Hashable, Sendable {
    package var subject: String
    /// Where the answer goes; `nil`: nobody answers.
    package var reply: String?
    package var headers: [LinkHeader]
    package var payload: [UInt8]

    package init(
        subject: String, reply: String? = nil, headers: [LinkHeader] = [], payload: [UInt8]
    ) {
        self.subject = subject
        self.reply = reply
        self.headers = headers
        self.payload = payload
    }
}

/// What came from the bridge: a message of a subscription. It has the parts of a publication.
package typealias LinkArrival = LinkPublication

/// The server as the bridge sees it.
package struct LinkServer: Hashable, Sendable {
    /// Its name or address, for people.
    package var name: String
    package var version: String
    /// The most bytes of headers and body in one message.
    package var payloadMax: Int

    package init(name: String, version: String, payloadMax: Int) {
        self.name = name
        self.version = version
        self.payloadMax = payloadMax
    }
}

package struct LinkTransaction: Hashable, Sendable {
    package var form: String
    package var replica: ReplicaID
    package var counters: ClosedRange<UInt64>
    /// The engine's bytes.
    package var bytes: [UInt8]

    package init(
        form: String, replica: ReplicaID, counters: ClosedRange<UInt64>, bytes: [UInt8]
    ) {
        self.form = form
        self.replica = replica
        self.counters = counters
        self.bytes = bytes
    }
}

/// What a message brought, for the engine to join.
package struct LinkDelivery: Hashable, Sendable {
    /// The number of the delivery: each is one more than the one before.
    package var order: UInt64
    package var form: String
    package var host: String
    /// When the log took it, in milliseconds since 1970.
    package var milliseconds: Int64
    /// What to join, in order; empty if only the cursor moves.
    package var items: [LinkItem]
    /// What the store keeps in the transaction of these joins; `nil`: what it has.
    package var cursor: LinkCursor?
    /// Where a reader returns to if the form does not take it.
    var before: LinkCursor.Place
    /// The index of that reader.
    var reader = 0
}

/// Why a host publishes a whole form.
package enum WholeReason: String, Hashable, Sendable, CaseIterable {
    /// It is shared from now on, or from the start of the daemon on; or it was deleted.
    case shared
    /// More edits waited than are kept.
    case overflow
    /// The log has no whole that is young enough.
    case due
    /// Hosts have not the same.
    case disagreement
    /// A person asked for it, or a host that waits for it.
    case asked
}

/// Why the log is read again from its beginning.
package enum ReadAgainReason: String, Hashable, Sendable, CaseIterable {
    /// This store has never read the log.
    case neverRead
    /// The stream was made again.
    case otherStream
    /// The log ends before the cursor.
    case endsEarlier
    /// The message at the cursor is another one.
    case otherMessage
    /// The message at the cursor is not kept any more.
    case expired
}

/// What is said in the log and counted.
package enum LinkReport: Hashable, Sendable {
    /// A message was not taken.
    case dropped(subject: String, LinkRefusal)
    /// The parts of a message did not all come; its host sends another.
    case incomplete(subject: String)
    /// The log of a site is read again from its beginning.
    case readsAgain(ReadAgainReason, site: String = "")
    /// A form waits until this daemon is upgraded.
    case held(form: String, LinkRefusal)
    /// The link is not used, with the reason and the next step.
    case refused(String)
    /// The stream of another site is not read, with the reason.
    case unread(site: String, String)
    /// It is read again.
    case reached(site: String)
    /// The server leaves out so many messages of a log: it cannot read them.
    case leftOut(messages: UInt64, site: String)
    /// The stream of another site takes what this host publishes, as well or instead.
    case misdirected(site: String, domain: String)
    /// The server does not take what this host publishes, with its reason.
    case unpublished(String)
    /// Two hosts have read the same and have not the same.
    case disagreement(form: String, host: String)
    /// Two machines publish as one replica: one is a copy of the other.
    case fork(ReplicaID)
    /// Another life of this store has published as its replica.
    case otherLife
    /// More waits to be sent than is kept; a whole goes instead.
    case overflowed(form: String)
    /// The state of a form is larger than a message may be.
    case wholeTooLarge(form: String)
    /// What this host says of so many forms does not fit in a message: others do not hear of it.
    case beaconTooLarge(forms: Int)
    /// The key does not seal.
    case unsealed(form: String)
}

package enum LinkAction: Hashable, Sendable {
    /// The bridge subscribes to these subjects.
    case subscribe([String])
    case publish(LinkPublication)
    /// The bridge connects again.
    case close(reason: String)
    /// The engine joins; then the machine hears of it: `saved`, `fellBack` or `hold`.
    case take(LinkDelivery)
    /// The engine gives the state of a form: `wholeMade`.
    case makeWhole(form: String, why: WholeReason)
    /// The log has a whole of a form from this host, which covers these writes.
    case wholeTaken(form: String, covering: CausalContext)
    /// The log has the transactions of a form up to this write.
    case transactionsTaken(form: String, through: Dot)
    /// The engine gives the digests of its forms: `beaconMade`.
    case makeBeacon
    /// People on other hosts came, moved or left, or are told again.
    case present([RemotePeer])
    /// A host said something of what a form has under way, or answered a verb.
    case hear(LinkWord)
    /// Which other hosts are there has changed: `hosts(sharing:)`.
    case hostsChanged
    /// Something to say and to count.
    case report(LinkReport)
}

/// The state of a link, for people.
package enum LinkPhase: String, Hashable, Sendable {
    case detached
    /// The bridge has no server.
    case down
    /// The stream is looked at.
    case inspecting
    /// The stream is made.
    case creating
    /// The stream cannot be used, or another host has this name.
    case refused
    /// The message at the cursor is compared.
    case verifying
    /// The log is read again: first the wholes.
    case readingAgain
    case reading
    /// All of the log has been read.
    case live
}
