// The link as a reader of the stream: which consumer, which pull, and where it begins.

extension LinkMachine {
    // MARK: Answers

    /// An answer of JetStream.
    mutating func answered(_ token: UInt64, _ arrival: LinkArrival) {
        if token == probe?.token, probe?.awaited == .server { return probeAnswered() }
        switch state {
        case .inspecting(let awaited) where awaited.token == token:
            inspected(arrival, isNew: false)
        case .creating(let awaited) where awaited.token == token:
            inspected(arrival, isNew: true)
        case .consuming(let reader) where reader.opening?.token == token:
            opened(arrival, reader)
        case .consuming(let reader) where reader.checking?.token == token:
            checked(arrival, reader)
        default: break
        }
    }

    private mutating func inspected(_ arrival: LinkArrival, isNew: Bool) {
        guard PullStatus(arrival.headers) == nil,
            let answer = try? JetStreamTalk.infoAnswer(
                arrival.payload, fleet: configuration.fleet)
        else {
            return refuse(
                "the server does not answer requests of JetStream; switch it on there "
                    + "(jetstream {}), and allow $JS.API.STREAM.INFO."
                    + LinkSubject.stream(of: configuration.fleet))
        }
        switch answer {
        case .success(let info):
            if let fault = info.fault { return refuse(fault) }
            refusal = nil
            wasMissing = false
            begin(info)
        case .failure(let error) where error.isStreamMissing && configuration.isFollower:
            refuse(Self.streamNotMade(configuration.fleet))
        case .failure(let error) where error.isStreamMissing && !isNew:
            // A server of 2.9 may still be removing the files of the stream that was read here, and
            // removes those of the next one with them.
            guard stream == nil || wasMissing else {
                wasMissing = true
                state = .refused(until: now.monotonicNanoseconds + Self.failureDelay)
                return
            }
            state = .creating(ask(JetStreamTalk.create(fleet: configuration.fleet)))
        case .failure(let error):
            refuse(
                "the server refused the stream: \(error.text) (\(error.code))",
                for: Self.failureDelay)
        }
    }

    /// Reads on, if the stream can be the one that was read.
    private mutating func begin(_ info: JetStreamInfo) {
        if linkedAt == nil { linkedAt = now.monotonicNanoseconds }
        if beaconAt == nil {
            // The first beacon goes before: others take people of hosts alone that they know.
            beaconAt = now.monotonicNanoseconds + Self.beaconDelay
            teller.link(true, at: now.monotonicNanoseconds + 2 * Self.beaconDelay)
        }
        sender.logEnds(at: info.last)
        for (id, message) in sender.resend(at: now.monotonicNanoseconds) { publish(message, id) }
        switch (stream, place.sequence) {
        case (nil, _): readAgain(info, .neverRead)
        case (let kept?, _) where !kept.isSameBytes(as: info.created):
            readAgain(info, .otherStream)
        case (_, 0) where info.first <= 1: open(info, .log, from: .all)
        case (_, let sequence) where sequence > info.last: readAgain(info, .endsEarlier)
        case (_, let sequence) where sequence < info.first: readAgain(info, .expired)
        case (_, let sequence): open(info, .verifying, from: .sequence(sequence))
        }
    }

    /// Reads the log from its beginning, the wholes first.
    mutating func readAgain(_ info: JetStreamInfo, _ reason: ReadAgainReason) {
        actions.append(.report(.readsAgain(reason)))
        stream = info.created
        furthest = .max
        place = LinkCursor.Place(sequence: max(info.first, 1) - 1, digest: 0)
        held = []
        parts.clear()
        runs = [:]
        wholes.forgetWholes()
        open(info, .wholes, from: .wholes)
    }

    private mutating func open(
        _ info: JetStreamInfo, _ pass: Reader.Pass, from start: ConsumerStart
    ) {
        let request = JetStreamTalk.consume(fleet: configuration.fleet, from: start)
        state = .consuming(Reader(info: info, pass: pass, opening: ask(request)))
        pump()
    }

    private mutating func opened(_ arrival: LinkArrival, _ before: Reader) {
        guard PullStatus(arrival.headers) == nil,
            case .success(let consumer)? = try? JetStreamTalk.consumerAnswer(arrival.payload)
        else {
            return refuse(
                "the server refused a consumer of the stream; see its log", for: Self.failureDelay)
        }
        var reader = before
        reader.opening = nil
        reader.consumer = consumer.name
        state = .consuming(reader)
        guard consumer.pending == 0 else { return pull() }
        switch reader.pass {
        case .verifying: readAgain(reader.info, .expired)
        case .wholes: readLog(reader.info)
        case .log:
            becomeLive()
            pull()
        }
    }

    /// The wholes are read; the log follows.
    private mutating func readLog(_ info: JetStreamInfo) {
        // Of a whole in parts only the last one came, and the log has all: the cursor must wait for
        // its first part.
        parts.clear()
        // What was joined is kept together with the stream that it came from.
        give([], form: "", host: configuration.host, milliseconds: 0, movesCursor: true)
        open(info, .log, from: .all)
    }

    private mutating func becomeLive() {
        guard case .consuming(var reader) = state, !reader.isLive else { return }
        reader.isLive = true
        furthest = place.sequence
        state = .consuming(reader)
    }

    // MARK: Pulls

    /// Pulls more, as soon as half of what was pulled is durable.
    mutating func pull() {
        guard case .consuming(var reader) = state, reader.opening == nil else { return }
        let awaited = reader.pulls.reduce(0) { $0 + $1.left }
        let free = JetStreamTalk.pullMessagesMax - inHand.count - awaited
        guard free >= JetStreamTalk.pullMessagesMax / 2, reader.pulls.count < 2 else { return }
        lastToken += 1
        let messages = reader.isNextLarge ? 1 : free
        let request = JetStreamTalk.next(
            fleet: configuration.fleet, consumer: reader.consumer, messages: messages,
            ofAnySize: reader.isNextLarge)
        reader.isNextLarge = false
        let seconds = UInt64(JetStreamTalk.pullSeconds) * 1_000_000_000
        reader.pulls.append(
            Reader.Pull(
                token: lastToken, left: messages,
                deadline: now.monotonicNanoseconds + seconds + Self.patience))
        state = .consuming(reader)
        actions.append(
            .publish(
                LinkPublication(
                    subject: request.subject, reply: "\(inbox).m.\(lastToken)",
                    payload: request.payload)))
    }

    /// A pull ended without more messages.
    mutating func pullEnded(_ token: UInt64, _ status: PullStatus) {
        guard case .consuming(var reader) = state,
            let place = reader.pulls.firstIndex(where: { $0.token == token })
        else { return }
        switch status {
        case .heartbeat: return
        case .gone: return inspect()
        case .tooLarge: reader.isNextLarge = true
        case .expired:
            // Other consumers are made only for messages that are there.
            guard case .log = reader.pass else { return undelivered(through: reader.info.last) }
            if reader.checking == nil {
                reader.checking = ask(JetStreamTalk.info(fleet: configuration.fleet))
            }
        }
        reader.pulls.remove(at: place)
        state = .consuming(reader)
        pull()
    }

    /// The stream said how long it is. A connection may lose the newest message, and no gap in the
    /// numbers shows that until the next one.
    private mutating func checked(_ arrival: LinkArrival, _ before: Reader) {
        var reader = before
        reader.checking = nil
        guard PullStatus(arrival.headers) == nil,
            case .success(let info)? = try? JetStreamTalk.infoAnswer(
                arrival.payload, fleet: configuration.fleet),
            stream?.isSameBytes(as: info.created) == true, info.last >= place.sequence
        else { return inspect() }
        let isBehind = info.last > place.sequence
        // The first time, what is missing may be on its way.
        if isBehind, reader.wasBehindAt == place.sequence {
            return undelivered(through: info.last)
        }
        reader.wasBehindAt = isBehind ? place.sequence : nil
        state = .consuming(reader)
    }

    /// The stream has messages that it does not deliver. A connection may have lost them; a second
    /// consumer that does not get them shows that the server cannot read its files.
    private mutating func undelivered(through last: UInt64) {
        guard stuckAt == place.sequence else {
            stuckAt = place.sequence
            return inspect()
        }
        refuse(
            "the server does not deliver what it has behind message \(place.sequence) of its log, "
                + "up to \(last): its files are damaged; delete the stream "
                + LinkSubject.stream(of: configuration.fleet)
                + " there, and a host makes it again")
    }

    // MARK: Messages

    /// A message of the stream arrived.
    mutating func delivered(
        _ arrival: LinkArrival, _ at: DeliveryPlace, _ contexts: (String) -> CausalContext?
    ) {
        guard case .consuming(var reader) = state, at.consumer == reader.consumer,
            at.delivery > reader.lastDelivery
        else { return }
        // The connection lost a message between the stream and us.
        guard at.delivery == reader.lastDelivery + 1 else { return inspect() }
        reader.lastDelivery = at.delivery
        if !reader.pulls.isEmpty {
            reader.pulls[0].left -= 1
            if reader.pulls[0].left == 0 { reader.pulls.removeFirst() }
        }
        let next = LinkCursor.Place(
            of: arrival, sequence: at.sequence, nanoseconds: at.nanoseconds, keys)
        switch reader.pass {
        case .verifying:
            guard next == place else {
                return readAgain(
                    reader.info, at.sequence == place.sequence ? .otherMessage : .expired)
            }
            reader.pass = .log
            state = .consuming(reader)
        case .wholes:
            state = .consuming(reader)
            take(arrival, at, contexts, to: nil)
            if at.pending == 0 { return readLog(reader.info) }
        case .log:
            state = .consuming(reader)
            if at.sequence > place.sequence {
                furthest = max(furthest, at.sequence)
                take(arrival, at, contexts, to: next)
            }
        }
        if at.pending == 0 { becomeLive() }
        pull()
    }
}
