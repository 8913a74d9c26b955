// What arrives: answers, messages of the log, beacons; and what the engine says of them.

extension LinkMachine {
    /// The bridge has a message.
    ///
    /// - Parameter contexts: the causal context of a form in the store, committed or not.
    package mutating func received(
        _ arrival: LinkArrival, contexts: (String) -> CausalContext?, at now: Moment
    ) {
        self.now = now
        if arrival.subject.hasPrefix(inbox + ".") {
            let fields = arrival.subject.dropFirst(inbox.utf8.count + 1)
            let id = String(fields.dropFirst(2))
            switch (fields.prefix(2), UInt64(id)) {
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

    /// Takes a message of the log.
    ///
    /// - Parameter next: the place of this message; `nil` if the cursor does not move.
    mutating func take(
        _ arrival: LinkArrival, _ at: DeliveryPlace, _ contexts: (String) -> CausalContext?,
        to next: LinkCursor.Place?
    ) {
        var before = place
        guard let subject = LinkSubject(arrival.subject), let form = subject.form,
            subject.fleet == configuration.fleet
        else {
            if let next { place = next }
            return drop(arrival, .subject(arrival.subject), next)
        }
        if held.contains(where: { $0.form == form && !$0.takesWholes }) {
            if let next { place = next }
            return skip(next)
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
                if let next { place = next }
                skip(next)
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
            if next != nil, !isCovered(headers, form, contexts) { watchForCopies(headers) }
            let message = try parts.take(
                piece, of: subject, headers, before: next == nil ? nil : before,
                at: now.monotonicNanoseconds)
            before = message?.before ?? before
            var items: [LinkItem] = []
            if let message { items = try LinkItem.decode(message.content) }
            if let next { place = next }
            give(
                items, form: form, host: subject.host, milliseconds: at.nanoseconds / 1_000_000,
                movesCursor: next != nil, before: before)
        } catch {
            if let next { place = next }
            guard case .newerVersion = error else { return drop(arrival, error, next) }
            hold(form, at: before, because: error)
            skip(next)
        }
    }

    /// Whether this host published a message and has all of it, which only a bundle's counters can
    /// say: of its own wholes it may have deleted what is in them while the form was not shared.
    private func isOwn(
        _ headers: LinkHeaders, _ subject: LinkSubject, _ form: String,
        _ contexts: (String) -> CausalContext?
    ) -> Bool {
        guard headers.replica == configuration.replica else { return false }
        guard headers.counters != nil else {
            return headers.run == configuration.run && subject.content == .bundles(form: form)
        }
        return isCovered(headers, form, contexts)
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
        _ arrival: LinkArrival, _ refusal: LinkRefusal, _ next: LinkCursor.Place?
    ) {
        actions.append(
            .report(.dropped(subject: arrival.subject.cut(toBytes: 256), refusal)))
        skip(next)
    }

    /// The cursor moves past a message without an effect.
    mutating func skip(_ next: LinkCursor.Place?) {
        guard next != nil else { return }
        give([], form: "", host: configuration.host, milliseconds: 0, movesCursor: true)
    }

    /// Hands something to the engine.
    mutating func give(
        _ items: [LinkItem], form: String, host: String, milliseconds: Int64, movesCursor: Bool,
        before: LinkCursor.Place? = nil
    ) {
        guard movesCursor || !items.isEmpty else { return }
        lastOrder += 1
        var cursor: LinkCursor?
        if movesCursor, let stream {
            cursor = LinkCursor(stream: stream, place: parts.before ?? place, held: held)
        }
        inHand.append((lastOrder, cursor?.place))
        actions.append(
            .take(
                LinkDelivery(
                    order: lastOrder, form: form, host: host, milliseconds: milliseconds,
                    items: items, cursor: cursor, before: before ?? place)))
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

    /// Two machines that publish as one replica take turns in the log. One run of a daemon that
    /// follows another does not come back.
    private mutating func watchForCopies(_ headers: LinkHeaders) {
        var known = runs[headers.replica, default: []]
        guard known.last != headers.run else { return }
        if known.contains(headers.run) {
            actions.append(.report(.fork(headers.replica)))
            known = []
        }
        runs[headers.replica] = known.suffix(7) + [headers.run]
    }

    // MARK: What the engine says

    /// The store has the effect of all deliveries up to this one.
    package mutating func saved(through order: UInt64, at now: Moment) {
        self.now = now
        let count = inHand.prefix { $0.order <= order }.count
        if let place = inHand[..<count].last(where: { $0.place != nil })?.place { saved = place }
        inHand.removeFirst(count)
        if let tested = probe?.order, tested <= order { probeEnded(.saved) }
        pull()
    }

    /// Nothing that was handed over since this cursor is in the store: the log is read from there.
    /// Forms that waited are tried again.
    package mutating func fellBack(to cursor: LinkCursor?, at now: Moment) {
        self.now = now
        stream = cursor?.stream
        held = []
        parts.clear()
        inHand = []
        read(from: cursor?.first ?? .start)
        editDeliveries {
            $0.items = []
            $0.cursor = nil
        }
    }

    /// Reads again what follows a place. Others say that what is behind it was not read yet.
    private mutating func read(from start: LinkCursor.Place) {
        place = start
        if start.sequence < saved.sequence || inHand.isEmpty { saved = start }
        for index in inHand.indices where (inHand[index].place?.sequence ?? 0) > start.sequence {
            inHand[index].place = nil
        }
        runs = [:]
        if case .consuming = state { inspect() }
    }

    /// A form does not take a delivery: it waits there until `release`, and all others go on.
    ///
    /// - Parameter takesWholes: whether the engine is still given its wholes.
    package mutating func hold(
        _ delivery: LinkDelivery, takesWholes: Bool = false, at now: Moment
    ) {
        self.now = now
        hold(delivery.form, at: delivery.before, because: nil, takesWholes: takesWholes)
        // What is behind it for this form waits with it.
        editDeliveries { if $0.form == delivery.form { $0.items = [] } }
        inHand.removeAll { $0.order == delivery.order }
    }

    /// A form that is not here waits for its whole, and then continues with this delivery.
    ///
    /// - Returns: whether it waits. If not, too many do, and a later whole has what is in it.
    package mutating func holdUntilWhole(_ delivery: LinkDelivery, at now: Moment) -> Bool {
        self.now = now
        let isHeld = held.contains { $0.form == delivery.form }
        guard isHeld || held.count < Self.heldMax / 2 else { return false }
        hold(delivery, takesWholes: true, at: now)
        return true
    }

    /// Whether a form waits, and its wholes are taken.
    package func takesWholes(_ form: String) -> Bool {
        held.contains { $0.form == form && $0.takesWholes }
    }

    /// A held form goes on, from where it waits.
    package mutating func release(_ form: String, at now: Moment) {
        self.now = now
        guard let waiting = held.firstIndex(where: { $0.form == form }) else { return }
        let start = held.remove(at: waiting).place
        // While the wholes are read, the log comes from its beginning anyway.
        if case .consuming(let reader) = state, case .wholes = reader.pass { return }
        // Others have what comes again, and skip it.
        read(from: start.sequence < place.sequence ? start : place)
    }

    private mutating func hold(
        _ form: String, at place: LinkCursor.Place, because refusal: LinkRefusal?,
        takesWholes: Bool = false
    ) {
        if let known = held.firstIndex(where: { $0.form == form }) {
            held[known].takesWholes = takesWholes
            return
        }
        guard held.count < Self.heldMax else { return stop(at: place) }
        held.append(LinkCursor.Held(form: form, place: place, takesWholes: takesWholes))
        held.sort { $0.form < $1.form }
        if let refusal { actions.append(.report(.held(form: form, refusal))) }
        let all = held
        editDeliveries { $0.cursor?.held = all }
    }

    /// So many forms wait that no more are remembered: nothing is read on, and nothing is lost.
    private mutating func stop(at place: LinkCursor.Place) {
        self.place = place
        runs = [:]
        editDeliveries {
            $0.items = []
            $0.cursor = nil
        }
        refuse(
            "\(Self.heldMax) forms wait already; see pickerctl link status for what they wait for")
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
