// Strings that are written without a `String`: causal contexts and times.

extension JSONWriter {
    /// The token of a causal context.
    @inline(__always)
    mutating func token(_ context: CausalContext) {
        // Nearly always one replica has written, and then nothing is copied.
        if let only = context.only { token(only) } else { longToken(context) }
    }

    private mutating func token(_ entry: VersionVector.Entry) {
        plain(bytesMax: ContextToken.dotBytesMax) { ContextToken.write(entry, to: &$0) }
    }

    private mutating func longToken(_ context: CausalContext) {
        plain(bytesMax: ContextToken.bytesMax(of: context)) { ContextToken.write(context, to: &$0) }
    }

    /// The token of one write alone.
    mutating func token(_ dot: Dot) {
        plain(bytesMax: ContextToken.dotBytesMax) { ContextToken.write(dot, to: &$0) }
    }

    /// A string that `body` writes, which needs no escapes.
    @inline(__always)
    private mutating func plain(bytesMax: Int, _ body: (inout TextPlace) -> Void) {
        append(bytesMax: bytesMax + 2) { place in
            var text = TextPlace(place)
            text.put(UInt8(ascii: "\""))
            body(&text)
            text.put(UInt8(ascii: "\""))
            return text.place - place
        }
    }

    /// A timestamp, a string of RFC 3339.
    public mutating func timestamp(_ moment: Timestamp) {
        append(bytesMax: Timestamp.textBytes + 2) { place in
            place.initialize(to: UInt8(ascii: "\""))
            moment.write(to: place + 1)
            (place + Timestamp.textBytes + 1).initialize(to: UInt8(ascii: "\""))
            return Timestamp.textBytes + 2
        }
    }
}
