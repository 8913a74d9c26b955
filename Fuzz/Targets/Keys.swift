internal import TerminalUI

// A terminal's bytes, which anything may have written: a paste, a remote program, line noise.

/// What was typed does not depend on how it was cut into reads.
func fuzzKeys(_ bytes: [UInt8]) {
    var whole = KeyDecoder()
    let expected = normalized(whole.decode(bytes))
    var pieces = KeyDecoder()
    var events: [InputEvent] = []
    for byte in bytes { events += pieces.decode([byte]) }
    law(normalized(events) == expected, "events depend on how the bytes were cut")
    law(pieces.isWaiting == whole.isWaiting, "so does whether more is waited for")
    _ = pieces.timeout()
    law(!pieces.isWaiting, "after a pause nothing is waited for")
    for case .paste(let text, _) in events {
        law(text.utf8.count <= KeyDecoder.pasteBytesMax * 3, "a paste is bounded")
    }
}

/// Text as scalars: a cluster comes whole only where it came in one read.
private func normalized(_ events: [InputEvent]) -> [InputEvent] {
    events.flatMap { event -> [InputEvent] in
        guard case .key(let key) = event, case .character(let cluster) = key.key,
            key.modifiers.isEmpty
        else { return [event] }
        return cluster.unicodeScalars.map { .key(KeyEvent(.character(Character($0)))) }
    }
}
