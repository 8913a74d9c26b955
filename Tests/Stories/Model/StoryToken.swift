// Causal tokens: `REPLICA.EPOCH:COUNT+NUMBER+NUMBER,…` (docs/CAUSALITY.md, replicas and tokens).
//
// The model numbers the writes of a form from 1, through all epochs of the daemon's replica. The
// daemon numbers them from 1 in each epoch. So each token of an answer can be read exactly, and
// tells which writes were done before the answer.

import SyncCore

/// The writes that a token names, by the name of their epoch.
struct StoryToken: Equatable {
    private(set) var writes: [String: StoryWrites] = [:]

    /// `nil` for a text that is not a token.
    init?(_ text: String) {
        for part in text.split(separator: ",", omittingEmptySubsequences: false) where text != "" {
            let pieces = part.split(separator: ":", omittingEmptySubsequences: false)
            guard pieces.count == 2 else { return nil }
            let numbers = pieces[1].split(separator: "+", omittingEmptySubsequences: false)
                .map { Int($0) }
            guard let count = numbers[0], numbers.allSatisfy({ $0 != nil }) else { return nil }
            writes[String(pieces[0])] = StoryWrites(
                upTo: count, loose: Set(numbers.dropFirst().compactMap(\.self)))
        }
    }

    var epochs: [String] { writes.keys.sorted() }

    func isSubset(of other: Self) -> Bool {
        writes.allSatisfy { name, own in own.isSubset(of: other.writes[name] ?? StoryWrites()) }
    }
}

/// The epochs of the daemon's replica.
struct StoryEpochs {
    /// The number of the present epoch.
    private(set) var present = 0
    /// The names of epochs, as far as a token contained them.
    private var names: [Int: String] = [:]

    /// A new epoch begins: the daemon may have lost writes.
    mutating func begin() { present += 1 }

    /// Takes the names from a token of an answer. A name that is not known is the name of the
    /// present epoch, or of one before it: all writes of an epoch may have been made without an
    /// answer, before a kill. The daemon counts its epochs from 1 in their names.
    mutating func learn(_ token: StoryToken) throws {
        for name in token.epochs where !names.values.contains(name) {
            let counted = name.split(separator: ".").last.flatMap { Int($0) }.map { $0 - 1 }
            let earlier = counted.flatMap { $0 < present && names[$0] == nil ? $0 : nil }
            let number = earlier ?? present
            guard names[number] == nil else {
                throw StoryDifference("a token names the epoch \(name); known are \(names)")
            }
            names[number] = name
        }
    }

    /// Whether a form has all writes that a token names.
    func has(_ form: StoryForm, all token: StoryToken) -> Bool {
        names.allSatisfy { number, name in
            guard let claimed = token.writes[name] else { return true }
            let count = form.writes(inEpoch: number)
            return claimed.upTo <= count && claimed.loose.allSatisfy { $0 <= count }
        }
    }

    /// The writes of a form that a token names. Writes that the form does not have are left out.
    func writes(of token: StoryToken, _ form: StoryForm) -> StoryWrites {
        var result = StoryWrites()
        for (place, epoch) in form.epochs.enumerated() {
            let count = form.writes(inEpochAt: place)
            guard let claimed = names[epoch.number].flatMap({ token.writes[$0] }) else { continue }
            for number in 1...max(1, count) where number <= count && claimed.contains(number) {
                result.insert(epoch.after + number)
            }
        }
        return result
    }
}

extension StoryModel {
    /// The writes that a request's token names.
    func writes(_ token: JSON?, _ form: StoryForm) throws -> StoryWrites? {
        try parsed(token).map { epochs.writes(of: $0, form) }
    }

    func parsed(_ token: JSON?) throws -> StoryToken? {
        guard let token else { return nil }
        guard let text = token.stringValue, let parsed = StoryToken(text) else {
            throw StoryRefusal("invalidParams")
        }
        return parsed
    }

    /// A token of an answer or a notification must name exactly these writes.
    mutating func check(
        _ text: String, _ expected: StoryWrites, _ serial: Int, isShown: Bool
    ) throws {
        guard let token = StoryToken(text) else { throw StoryDifference("\(text) is not a token") }
        try epochs.learn(token)
        guard let form = forms.first(where: { $0.serial == serial }) else { return }
        let named = epochs.writes(of: token, form)
        guard !isShown || epochs.has(form, all: token) else {
            throw StoryDifference("the token \(text) names writes that are not in \(expected)")
        }
        guard named == expected || !isShown && form.mayLeaveOut(named, of: expected) else {
            throw StoryDifference("the token \(text) names \(named) and not \(expected)")
        }
        tokens[serial, default: [:]][text] = named.upTo
    }
}

extension StoryForm {
    /// The number of its writes in an epoch.
    fileprivate func writes(inEpoch number: Int) -> Int {
        epochs.firstIndex { $0.number == number }.map(writes(inEpochAt:)) ?? 0
    }

    fileprivate func writes(inEpochAt place: Int) -> Int {
        let isLast = place == epochs.count - 1
        return (isLast ? writes : epochs[place + 1].after) - epochs[place].after
    }

    /// The longest token may leave out writes that no control holds any more.
    fileprivate func mayLeaveOut(_ named: StoryWrites, of expected: StoryWrites) -> Bool {
        expected.loose.count > 60 && named.isSubset(of: expected)
    }
}
