// What is fuzzed: each target is a function of bytes that must neither trap nor break a law.
//
// Invariant: the same bytes do the same thing, so that a kept failure replays in `make test`; a
// law that is broken is a trap, which libFuzzer keeps and a test reports.

/// A target, by the name of its folder in `Fuzz/Corpus` and `Fuzz/FailCases`.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// A stream cut into frames, whatever the pieces.
    case frames
    /// JSON text, and what is written of what was read.
    case json
    /// Requests: what is understood is said again and understood the same.
    case requests
    /// Vector clocks as clients hand them back.
    case tokens
    /// Form files, YAML and JSON.
    case forms
    /// A terminal's bytes.
    case keys
    /// A whole conversation of several users with an engine over a store.
    case connection
    /// What other hosts of a fleet and their server send.
    case link
    /// The frame that costs most a byte.
    case cost

    /// Tries it with these bytes; traps where a law does not hold.
    public func run(_ bytes: [UInt8]) {
        switch self {
        case .frames: fuzzFrames(bytes)
        case .json: fuzzJSON(bytes)
        case .requests: fuzzRequests(bytes)
        case .tokens: fuzzTokens(bytes)
        case .forms: fuzzForms(bytes)
        case .keys: fuzzKeys(bytes)
        case .connection: fuzzConnection(bytes)
        case .link: fuzzLink(bytes)
        case .cost: fuzzCost(bytes)
        }
    }
}

/// A law of a target. Unlike `assert` it holds in every build.
func law(_ holds: Bool, _ sentence: @autoclosure () -> String) {
    precondition(holds, sentence())
}
