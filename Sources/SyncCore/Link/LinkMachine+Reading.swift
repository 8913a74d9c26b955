// The link as a reader of streams: which consumer, which pull, and where it begins. `place` is the
// index of a reader.

extension LinkMachine {
    // MARK: Answers

    /// An answer of JetStream.
    mutating func answered(_ token: UInt64, _ arrival: LinkArrival) {
        if token == probe?.token, probe?.awaited == .server { return probeAnswered() }
        for place in readers.indices {
            switch readers[place].state {
            case .inspecting(let awaited) where awaited.token == token:
                return inspected(arrival, place, isNew: false)
            case .creating(let awaited) where awaited.token == token:
                return inspected(arrival, place, isNew: true)
            case .consuming(let consumer) where consumer.opening?.token == token:
                return opened(arrival, consumer, place)
            case .consuming(let consumer) where consumer.checking?.token == token:
                return checked(arrival, consumer, place)
            default: break
            }
        }
    }

    private mutating func inspected(_ arrival: LinkArrival, _ place: Int, isNew: Bool) {
        let (fleet, site) = (configuration.fleet, readers[place].site)
        guard PullStatus(arrival.headers) == nil,
            let answer = try? JetStreamTalk.infoAnswer(arrival.payload, fleet: fleet)
        else {
            guard place == 0 else {
                return refuse("it is not reached", place, for: Self.failureDelay)
            }
            return refuse(
                site.isEmpty
                    ? "the server does not answer requests of JetStream; switch it on there "
                        + "(jetstream {}), and allow $JS.API.STREAM.INFO."
                        + LinkSubject.stream(of: fleet)
                    : "the server does not answer requests of the JetStream domain \(site); switch "
                        + "it on there (jetstream { domain: \(site) }), and allow "
                        + JetStreamTalk.info(fleet: fleet, site: site).subject,
                place)
        }
        switch answer {
        case .success(let info):
            if let fault = info.fault { return refuse(fault, place) }
            if readers[place].reach(), place > 0 { actions.append(.report(.reached(site: site))) }
            begin(info, place)
        // A site makes its own stream.
        case .failure(let error) where error.isStreamMissing && place > 0:
            refuse("it has no stream yet", place, for: Self.failureDelay)
        case .failure(let error) where error.isStreamMissing && configuration.isFollower:
            refuse(Self.streamNotMade(fleet), place)
        case .failure(let error) where error.isStreamMissing && !isNew:
            // A server of 2.9 may still be removing the files of the stream that was read here, and
            // removes those of the next one with them.
            guard readers[place].stream == nil || readers[place].wasMissing else {
                readers[place].wasMissing = true
                readers[place].state = .refused(
                    until: now.monotonicNanoseconds + Self.failureDelay)
                return
            }
            readers[place].state = .creating(ask(JetStreamTalk.create(fleet: fleet, site: site)))
        case .failure(let error):
            refuse(
                "the server refused the stream: \(error.text) (\(error.code))", place,
                for: Self.failureDelay)
        }
    }

    private mutating func begin(_ info: JetStreamInfo, _ place: Int) {
        if place == 0 { enterFleet(info) }
        let reader = readers[place]
        switch (reader.stream, reader.place.sequence) {
        case (nil, _): readAgain(info, .neverRead, place)
        case (let kept?, _) where !kept.isSameBytes(as: info.created):
            readAgain(info, .otherStream, place)
        case (_, 0) where info.first <= 1: open(info, .log, from: .all, place)
        case (_, let sequence) where sequence > info.last: readAgain(info, .endsEarlier, place)
        case (_, let sequence) where sequence < info.first: readAgain(info, .expired, place)
        case (_, let sequence): open(info, .verifying, from: .sequence(sequence), place)
        }
    }

    /// The stream where this host publishes is there.
    private mutating func enterFleet(_ info: JetStreamInfo) {
        if linkedAt == nil { linkedAt = now.monotonicNanoseconds }
        cutOff(false)
        if beaconAt == nil {
            // The first beacon goes before: others take people of hosts alone that they know.
            beaconAt = now.monotonicNanoseconds + Self.beaconDelay
            teller.link(true, at: now.monotonicNanoseconds + 2 * Self.beaconDelay)
        }
        sender.logEnds(at: info.last)
        for (id, message) in sender.resend(at: now.monotonicNanoseconds) { publish(message, id) }
    }

    /// Reads a log from its beginning, the wholes first.
    mutating func readAgain(_ info: JetStreamInfo, _ reason: ReadAgainReason, _ place: Int) {
        actions.append(.report(.readsAgain(reason, site: readers[place].site)))
        readers[place].begin(info)
        wholes.forgetWholes()
        open(info, .wholes, from: .wholes, place)
    }

    private mutating func open(
        _ info: JetStreamInfo, _ pass: StreamReader.Consumer.Pass, from start: ConsumerStart,
        _ place: Int
    ) {
        let request = JetStreamTalk.consume(
            fleet: configuration.fleet, site: readers[place].site, from: start)
        readers[place].state = .consuming(
            StreamReader.Consumer(info: info, pass: pass, opening: ask(request)))
        pump()
    }

    private mutating func opened(
        _ arrival: LinkArrival, _ before: StreamReader.Consumer, _ place: Int
    ) {
        guard PullStatus(arrival.headers) == nil,
            case .success(let made)? = try? JetStreamTalk.consumerAnswer(arrival.payload)
        else {
            return refuse(
                "the server refused a consumer of the stream; see its log", place,
                for: Self.failureDelay)
        }
        var consumer = before
        consumer.opening = nil
        consumer.name = made.name
        consumer.left.messages = made.pending
        readers[place].state = .consuming(consumer)
        guard made.pending == 0 else { return pull(place) }
        switch consumer.pass {
        case .verifying: readAgain(consumer.info, .expired, place)
        case .wholes: readLog(consumer.info, place)
        case .log:
            becomeLive(place)
            pull(place)
        }
    }

    /// The wholes are read; the log follows.
    private mutating func readLog(_ info: JetStreamInfo, _ place: Int) {
        // Of a whole in parts only the last one came, and the log has all: the cursor must wait for
        // its first part.
        readers[place].parts.clear()
        // What was joined is kept together with the stream that it came from.
        skip(readers[place].place, place)
        open(info, .log, from: .all, place)
    }

    private mutating func becomeLive(_ place: Int) {
        guard var consumer = readers[place].consumer, !consumer.isLive else { return }
        if consumer.left.messages > 0 {
            actions.append(
                .report(.leftOut(messages: consumer.left.messages, site: readers[place].site)))
            consumer.left.messages = 0
        }
        consumer.isLive = true
        readers[place].furthest = readers[place].place.sequence
        readers[place].state = .consuming(consumer)
    }

    // MARK: Pulls

    /// Pulls more, as soon as half of what was pulled is durable.
    mutating func pull(_ place: Int) {
        guard var consumer = readers[place].consumer, consumer.opening == nil else { return }
        let awaited = consumer.pulls.reduce(0) { $0 + $1.left }
        let most = consumer.inHandMax
        let free = most - readers[place].inHand.count - awaited
        guard free >= most / 2, consumer.pulls.count < 2 else { return }
        lastToken += 1
        let messages = consumer.isNextLarge ? 1 : free
        let request = JetStreamTalk.next(
            fleet: configuration.fleet, site: readers[place].site, consumer: consumer.name,
            messages: messages, ofAnySize: consumer.pass == .wholes || consumer.isNextLarge)
        consumer.isNextLarge = false
        let seconds = UInt64(JetStreamTalk.pullSeconds) * 1_000_000_000
        consumer.pulls.append(
            StreamReader.Consumer.Pull(
                token: lastToken, left: messages,
                deadline: now.monotonicNanoseconds + seconds + Self.patience))
        readers[place].state = .consuming(consumer)
        actions.append(
            .publish(
                LinkPublication(
                    subject: request.subject, reply: "\(inbox)m.\(lastToken)",
                    payload: request.payload)))
    }

    /// A pull ended without more messages.
    mutating func pullEnded(_ token: UInt64, _ status: PullStatus) {
        for place in readers.indices {
            guard let consumer = readers[place].consumer,
                let pull = consumer.pulls.firstIndex(where: { $0.token == token })
            else { continue }
            return pullEnded(pull, of: consumer, status, place)
        }
    }

    private mutating func pullEnded(
        _ pull: Int, of before: StreamReader.Consumer, _ status: PullStatus, _ place: Int
    ) {
        var consumer = before
        switch status {
        case .heartbeat: return
        case .gone: return inspect(place)
        case .tooLarge: consumer.isNextLarge = true
        case .expired:
            switch consumer.pass {
            // This consumer is made only for a message that is there.
            case .verifying: return undelivered(through: consumer.info.last, place)
            // A server leaves out wholes that it cannot read, and still counts them.
            case .wholes: return readLog(consumer.info, place)
            case .log: break
            }
            if consumer.checking == nil {
                consumer.checking = askForLength(place)
            }
        }
        consumer.pulls.remove(at: pull)
        readers[place].state = .consuming(consumer)
        self.pull(place)
    }

    /// The stream said how long it is. A connection may lose the newest message, and no gap in the
    /// numbers shows that until the next one.
    private mutating func checked(
        _ arrival: LinkArrival, _ before: StreamReader.Consumer, _ place: Int
    ) {
        var consumer = before
        consumer.checking = nil
        let (stream, sequence) = (readers[place].stream, readers[place].place.sequence)
        guard PullStatus(arrival.headers) == nil,
            case .success(let info)? = try? JetStreamTalk.infoAnswer(
                arrival.payload, fleet: configuration.fleet),
            stream?.isSameBytes(as: info.created) == true, info.last >= sequence
        else { return inspect(place) }
        // A server may find only now, while it reads its files, that they end earlier.
        if place == 0 { sender.logEnds(at: info.last) }
        let isBehind = info.last > sequence
        // The first time, what is missing may be on its way.
        if isBehind, consumer.wasBehindAt == sequence {
            return undelivered(through: info.last, place)
        }
        consumer.wasBehindAt = isBehind ? sequence : nil
        readers[place].state = .consuming(consumer)
        // What the consumer still counts, the server leaves out: it cannot read it. The digests of
        // the hosts show whether one of them lacks it.
        if !isBehind { becomeLive(place) }
    }

    /// The stream has messages that it does not deliver. A connection may have lost them; a second
    /// consumer that does not get them shows that the server cannot read its files.
    private mutating func undelivered(through last: UInt64, _ place: Int) {
        let sequence = readers[place].place.sequence
        guard readers[place].stuckAt == sequence else {
            readers[place].stuckAt = sequence
            return inspect(place)
        }
        refuse(
            "the server does not deliver what it has behind message \(sequence) of its log, "
                + "up to \(last): its files are damaged; delete the stream "
                + LinkSubject.stream(of: configuration.fleet)
                + " there, and a host makes it again", place)
    }

    // MARK: Messages

    /// A message of a stream arrived.
    mutating func delivered(
        _ arrival: LinkArrival, _ at: DeliveryPlace, _ contexts: (String) -> CausalContext?
    ) {
        // Consumers have names of their own, on all servers.
        guard let place = readers.firstIndex(where: { $0.consumer?.name == at.consumer }),
            var consumer = readers[place].consumer, at.delivery > consumer.lastDelivery
        else { return }
        // The connection lost a message between the stream and us.
        guard at.delivery == consumer.lastDelivery + 1 else { return inspect(place) }
        consumer.lastDelivery = at.delivery
        consumer.left = (at.pending, at.nanoseconds)
        if !consumer.pulls.isEmpty {
            consumer.pulls[0].left -= 1
            if consumer.pulls[0].left == 0 { consumer.pulls.removeFirst() }
        }
        let next = LinkCursor.Place(
            of: arrival, sequence: at.sequence, nanoseconds: at.nanoseconds, keys)
        switch consumer.pass {
        case .verifying:
            let kept = readers[place].place
            guard next == kept else {
                return readAgain(
                    consumer.info, at.sequence == kept.sequence ? .otherMessage : .expired, place)
            }
            consumer.pass = .log
            readers[place].state = .consuming(consumer)
        case .wholes:
            readers[place].state = .consuming(consumer)
            take(arrival, at, contexts, to: nil, place)
            if at.pending == 0 { return readLog(consumer.info, place) }
        case .log:
            readers[place].state = .consuming(consumer)
            if at.sequence > readers[place].place.sequence {
                readers[place].furthest = max(readers[place].furthest, at.sequence)
                take(arrival, at, contexts, to: next, place)
            }
        }
        if at.pending == 0 { becomeLive(place) }
        pull(place)
    }
}
