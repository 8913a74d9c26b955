// When a value ends by itself: `--for`, `--until-time`.

internal import ArgumentParser
internal import SyncCore

/// The options of a lease that ends at a time.
struct LeaseOptions: ParsableArguments {
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("The value ends after this time, such as 2h30m.", valueName: "duration"))
    var duration: String?

    @Option(
        help: ArgumentHelp(
            "The value ends at the next such time: 18:00, or a time of RFC 3339.",
            valueName: "time"))
    var untilTime: String?

    var wish: LeaseWish { LeaseWish(duration: duration, time: untilTime) }
}

extension PlainWords {
    /// `--for` and `--until-time`.
    mutating func leaseWish() -> LeaseWish {
        LeaseWish(duration: value("--for"), time: value("--until-time"))
    }
}

/// The texts of `--for` and `--until-time`.
struct LeaseWish: Equatable {
    var duration: String?
    var time: String?

    /// The end that they mean; `nil` without either.
    func end(now: Timestamp = LocalTime.now) throws(Failure) -> LeaseEnd? {
        switch (duration, time) {
        case (nil, nil): return nil
        case (.some, .some): throw .usage(UsageWords.exclude("--for", "--until-time"))
        case (let duration?, nil):
            let seconds = DurationText.seconds(duration)?.rounded(.up)
            guard let seconds, seconds >= 1, seconds <= Double(LeaseEnd.secondsMax) else {
                throw .usage(UsageWords.notDuration("--for", duration))
            }
            return .seconds(Int64(seconds))
        case (nil, let time?):
            guard let moment = Timestamp(time) ?? LocalTime.next(time, after: now) else {
                throw .usage(UsageWords.notTime("--until-time", time))
            }
            guard moment > now else { throw .usage(UsageWords.isOver("--until-time", time)) }
            return .until(moment)
        }
    }
}

extension FieldLease {
    /// `until 14:30:05, then Off`, for people.
    var words: String {
        let what = then.map { ValueText.bare($0) } ?? "its default"
        let end = until.map { "until \(LocalTime.clock($0))" } ?? "while \(by.user) holds it"
        return "\(end), then \(what)"
    }
}
