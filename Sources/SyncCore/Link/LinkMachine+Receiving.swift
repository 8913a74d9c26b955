// What arrives: answers, messages of the log, beacons; and what the engine says of them.

extension LinkMachine {
    /// The bridge has a message.
    ///
    /// - Parameter contexts: the causal context of a form in the store, committed or not.
    package mutating func received(
        _ arrival: LinkArrival, contexts: (String) -> CausalContext?, at now: Moment
    ) {
        self.now = now
        if arrival.subject.hasPrefix(inbox) {
            let name = Substring(arrival.subject.utf8.dropFirst(inbox.utf8.count))
            let id = String(Substring(name.utf8.dropFirst(2)))
            switch (name.prefix(2), UInt64(id)) {
            case ("a.", let token?): answered(token, arrival)
            case ("m.", let token?):
                if let status = PullStatus(arrival.headers) { pullEnded(token, status) }
            case ("p.", _): acknowledged(id, arrival)
            case ("t.", let token?):
                if token == probe?.token, PullStatus(arrival.headers) == nil { probeEnded(.taken) }
            default: break
            }
        } else if let place = arrival.reply.flatMap(DeliveryPlace.init(reply:)) {
            guard place.stream == LinkSubject.stream(of: configuration.fleet) else { return }
            delivered(arrival, place, contexts)
        } else if let subject = LinkSubject(arrival.subject) {
            switch subject.content {
            case .beacon: beacon(arrival, subject)
            case .presence: presence(arrival, subject)
            case .bundles, .whole: break
            }
        }
    }

    // MARK: Messages of the log

    /// Takes a message of a log.
    ///
    /// - Parameter next: the place of this message; `nil` if the cursor does not move.
    mutating func take(
        _ arrival: LinkArrival, _ at: DeliveryPlace, _ contexts: (String) -> CausalContext?,
        to next: LinkCursor.Place?, _ place: Int
    ) {
        var before = readers[place].place
        guard let subject = LinkSubject(arrival.subject), let form = subject.form,
            subject.fleet == configuration.fleet
        else {
            return drop(arrival, .subject(arrival.subject), next, place)
        }
        if readers[place].held.contains(where: { $0.form == form && !$0.takesWholes }) {
            return skip(next, place)
        }
        do throws(LinkRefusal) {
            let headers = try LinkHeaders(arrival.headers)
            if isOfOtherLife(headers, form) {
                _ = try LinkMessage(
                    subject: subject, headers: headers, body: arrival.payload
                ).open(with: keys)
                // The replica gets another id, and then the log is read again from the cursor.
                return actions.append(.report(.otherLife))
            }
            if isOwn(headers, subject, form, contexts) {
                skip(next, place)
                if headers.number == probe?.number, next != nil {
                    probeEnded(.back)
                    probe?.order = lastOrder
                }
                return
            }
            let piece = try LinkMessage(
                subject: subject, headers: headers, body: arrival.payload
            ).open(with: keys)
            // Of the wholes, the newest come first, and then the log begins.
            if next != nil, !isCovered(headers, form, contexts),
                readers[place].showsCopy(headers)
            {
                actions.append(.report(.fork(headers.replica)))
            }
            let message = try readers[place].parts.take(
                piece, of: subject, headers, before: next == nil ? nil : before,
                at: now.monotonicNanoseconds)
            before = message?.before ?? before
            var items: [LinkItem] = []
            if let message { items = try LinkItem.decode(message.content) }
            if let next { readers[place].place = next }
            give(
                items, form: form, host: subject.host, milliseconds: at.nanoseconds / 1_000_000,
                movesCursor: next != nil, before: before, of: place)
        } catch {
            guard case .newerVersion = error else { return drop(arrival, error, next, place) }
            if let next { readers[place].place = next }
            hold(form, at: before, because: error, place)
            skip(next == nil ? nil : readers[place].place, place)
        }
    }

    /// Whether this host published a message and has all of it, which only a bundle's counters can
    /// say.
    ///
    /// While a form was not shared, it may have been deleted here. Then another host's edit brings
    /// an own write back, but not what that write removed. So neither an own whole nor a bundle of
    /// before the log was last read again is skipped.
    private func isOwn(
        _ headers: LinkHeaders, _ subject: LinkSubject, _ form: String,
        _ contexts: (String) -> CausalContext?
    ) -> Bool {
        guard headers.replica == configuration.replica else { return false }
        guard headers.counters != nil else {
            return headers.run == configuration.run && subject.content == .bundles(form: form)
        }
        return headers.counters.map { $0.lowerBound > reread[form] ?? 0 } ?? false
            && isCovered(headers, form, contexts)
    }

    /// Whether the store has the writes that a bundle is of.
    ///
    /// It need not have all that they removed: an edit that came before has some of them in its
    /// context. So the bundles of other replicas are joined all the same.
    private func isCovered(
        _ headers: LinkHeaders, _ form: String, _ contexts: (String) -> CausalContext?
    ) -> Bool {
        guard let counters = headers.counters else { return false }
        return contexts(form)?.covers(headers.replica, counters) == true
    }

    private mutating func drop(
        _ arrival: LinkArrival, _ refusal: LinkRefusal, _ next: LinkCursor.Place?, _ place: Int
    ) {
        actions.append(
            .report(.dropped(subject: arrival.subject.cut(toBytes: 256), refusal)))
        skip(next, place)
    }

    /// The cursor moves past a message without an effect.
    mutating func skip(_ next: LinkCursor.Place?, _ place: Int) {
        guard let next else { return }
        readers[place].place = next
        give(
            [], form: "", host: configuration.host, milliseconds: 0, movesCursor: true, of: place)
    }

    /// Hands something to the engine.
    private mutating func give(
        _ items: [LinkItem], form: String, host: String, milliseconds: Int64, movesCursor: Bool,
        before: LinkCursor.Place? = nil, of place: Int
    ) {
        guard movesCursor || !items.isEmpty else { return }
        lastOrder += 1
        let own = movesCursor ? readers[place].cursor : nil
        readers[place].gave(lastOrder, own)
        // The effect of what was given before, of all streams, is in the store with this one's.
        let cursor = own == nil ? nil : LinkCursor(readers.compactMap(\.cursor))
        actions.append(
            .take(
                LinkDelivery(
                    order: lastOrder, form: form, host: host, milliseconds: milliseconds,
                    items: items, cursor: cursor, before: before ?? readers[place].place,
                    reader: place)))
        if !items.isEmpty { changed() }
    }

    /// Whether a message has writes of this replica that the store did not have when this run
    /// began, although another run made them: the store was put back to an earlier state, or
    /// copied.
    private func isOfOtherLife(_ headers: LinkHeaders, _ form: String) -> Bool {
        guard headers.replica == configuration.replica, headers.run != configuration.run,
            let counters = headers.counters
        else { return false }
        return counters.upperBound > configuration.counters[form] ?? 0
    }

    // MARK: What the engine says

    /// The store has the effect of all deliveries up to this one.
    package mutating func saved(through order: UInt64, at now: Moment) {
        self.now = now
        for place in readers.indices { readers[place].saved(through: order) }
        if let tested = probe?.order, tested <= order { probeEnded(.saved) }
        for place in readers.indices { pull(place) }
    }

    /// Nothing that was handed over since this cursor is in the store: the logs are read from
    /// there. Forms that waited are tried again.
    ///
    /// - Parameter counters: The newest write of this replica in each form.
    package mutating func fellBack(
        to cursor: LinkCursor?, counters: [String: UInt64], at now: Moment
    ) {
        self.now = now
        reread = counters
        for place in readers.indices {
            readers[place].fallBack(
                to: cursor?.stream(of: readers[place].site, isOwn: place == 0))
            if readers[place].isConsuming { inspect(place) }
        }
        editDeliveries {
            $0.items = []
            $0.cursor = nil
        }
    }

    /// A form does not take a delivery: it waits there until `release`, and all others go on.
    ///
    /// - Parameter takesWholes: whether the engine is still given its wholes.
    package mutating func hold(
        _ delivery: LinkDelivery, takesWholes: Bool = false, at now: Moment
    ) {
        self.now = now
        let place = delivery.reader
        hold(
            delivery.form, at: delivery.before, because: nil, takesWholes: takesWholes, place)
        // What is behind it for this form waits with it.
        editDeliveries { if $0.form == delivery.form, $0.reader == place { $0.items = [] } }
        readers[place].giveBack(delivery.order)
    }

    /// A form that is not here waits for its whole, and then continues with this delivery.
    ///
    /// - Returns: whether it waits. If not, too many do, and a later whole has what is in it.
    package mutating func holdUntilWhole(_ delivery: LinkDelivery, at now: Moment) -> Bool {
        self.now = now
        guard
            readers[delivery.reader].isHeld(delivery.form) || heldCount < Self.heldMax / 2
        else { return false }
        hold(delivery, takesWholes: true, at: now)
        return true
    }

    /// Whether a form waits, and its wholes are taken.
    package func takesWholes(_ form: String) -> Bool {
        readers.contains { $0.held.contains { $0.form == form && $0.takesWholes } }
    }

    /// A held form goes on, in each stream from where it waits.
    package mutating func release(_ form: String, at now: Moment) {
        self.now = now
        for place in readers.indices {
            let reader = readers[place]
            guard let waiting = reader.held.firstIndex(where: { $0.form == form }) else { continue }
            let start = readers[place].held.remove(at: waiting).place
            // While the wholes are read, the log comes from its beginning anyway.
            if case .wholes? = reader.consumer?.pass { continue }
            // Others have what comes again, and skip it.
            readers[place].read(
                from: start.sequence < reader.place.sequence ? start : reader.place)
            if reader.isConsuming { inspect(place) }
        }
    }

    /// How many forms wait, in each stream that they wait in.
    private var heldCount: Int { readers.reduce(0) { $0 + $1.held.count } }

    private mutating func hold(
        _ form: String, at start: LinkCursor.Place, because refusal: LinkRefusal?,
        takesWholes: Bool = false, _ place: Int
    ) {
        if let known = readers[place].held.firstIndex(where: { $0.form == form }) {
            readers[place].held[known].takesWholes = takesWholes
            return
        }
        guard heldCount < Self.heldMax else { return stop(at: start, place) }
        readers[place].held.append(
            LinkCursor.Held(form: form, place: start, takesWholes: takesWholes))
        readers[place].held.sort { $0.form < $1.form }
        if let refusal { actions.append(.report(.held(form: form, refusal))) }
        let (site, held) = (readers[place].site, readers[place].held)
        editDeliveries { delivery in
            guard let index = delivery.cursor?.streams.firstIndex(where: { $0.site == site })
            else { return }
            delivery.cursor?.streams[index].held = held
        }
    }

    /// So many forms wait that no more are remembered: nothing is read on, and nothing is lost.
    private mutating func stop(at start: LinkCursor.Place, _ place: Int) {
        readers[place].stop(at: start)
        editDeliveries {
            if $0.reader == place { $0.items = [] }
            $0.cursor = nil
        }
        refuse(
            "\(Self.heldMax) forms wait already; see pickerctl link status for what they wait for",
            place)
    }

    /// Changes deliveries that the engine does not have yet.
    private mutating func editDeliveries(_ edit: (inout LinkDelivery) -> Void) {
        for index in actions.indices {
            guard case .take(var delivery) = actions[index] else { continue }
            edit(&delivery)
            actions[index] = .take(delivery)
        }
    }
}
