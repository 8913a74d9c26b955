// The number of terminal columns of a text, for aligning tables and cutting lines.
//
// The unit is the extended grapheme cluster (UAX #29), which is what a terminal's cell holds; a
// cluster takes 0, 1 or 2 columns. Control characters take none here, because callers replace them
// (SafeText) before they measure.

internal import SyncCore

/// Terminal columns of text, by grapheme cluster.
public enum DisplayWidth {
    /// The version of Unicode whose widths these are.
    public static let unicodeVersion = DisplayWidthTable.unicodeVersion

    /// The columns that a text of one line takes.
    public static func columns(of text: some StringProtocol) -> Int { columns(of: String(text)) }

    /// The columns that a text of one line takes.
    public static func columns(of text: String) -> Int {
        if isPlain(text) { return text.utf8.count }
        var total = 0
        forEachCluster(of: text, ascii: { _ in total += 1 }, other: { total += columns(of: $0) })
        return total
    }

    /// Calls a closure for each grapheme cluster of a text. Finding the bounds of a cluster is
    /// slow, so it is not done between two printable characters of ASCII, where one always is.
    static func forEachCluster(
        of text: String, ascii: (UInt8) -> Void, other: (Character) -> Void
    ) {
        let simple = text.utf8.withContiguousStorageIfAvailable {
            forEachSimpleCluster(of: $0, ascii: ascii, other: other)
        }
        var place = text.utf8.index(text.startIndex, offsetBy: simple ?? 0)
        while place < text.endIndex {
            let after = text.utf8.index(after: place)
            let byte = text.utf8[place]
            if isPlain(byte), after == text.endIndex || isPlain(text.utf8[after]) {
                ascii(byte)
                place = after
            } else {
                other(text[place])
                place = text.index(after: place)
            }
        }
    }

    /// Calls a closure for each cluster at the beginning of a text that ends where its first scalar
    /// does: printable ASCII and symbols, of which none joins what follows, before another of them
    /// or the end. Returns their bytes.
    private static func forEachSimpleCluster(
        of bytes: UnsafeBufferPointer<UInt8>, ascii: (UInt8) -> Void, other: (Character) -> Void
    ) -> Int {
        /// The symbol at a place: arrows to miscellaneous symbols, three bytes each.
        func symbol(at place: Int) -> Unicode.Scalar? {
            guard place + 3 <= bytes.count, bytes[place] == 0xE2 else { return nil }
            let tail = UInt32(bytes[place + 1] & 0x3F) << 6 | UInt32(bytes[place + 2] & 0x3F)
            let value = 0x2000 | tail
            return (0x2190..<0x2C00).contains(value) ? Unicode.Scalar(value) : nil
        }
        func isSimple(_ place: Int) -> Bool {
            place == bytes.count || isPlain(bytes[place]) || symbol(at: place) != nil
        }
        var place = 0
        while place < bytes.count {
            if isPlain(bytes[place]) {
                guard isSimple(place + 1) else { break }
                ascii(bytes[place])
                place += 1
            } else {
                guard let symbol = symbol(at: place), isSimple(place + 3) else { break }
                other(Character(symbol))
                place += 3
            }
        }
        return place
    }

    /// Whether a text is printable ASCII, as most is: there a byte is a cluster of one column.
    static func isPlain(_ text: String) -> Bool {
        // In place: an iterator of a text is slow.
        text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isPlain) }
            ?? text.utf8.allSatisfy(isPlain)
    }

    private static func isPlain(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F }

    /// The columns of one grapheme cluster: 0, 1 or 2.
    ///
    /// A cluster of several scalars that each take a column (a conjunct, a flag's two regional
    /// indicators, an emoji joined from several) takes two and no more, as terminals with grapheme
    /// support draw it; U+FE0F after a symbol asks for its emoji of two columns.
    public static func columns(of cluster: Character) -> Int {
        var total = 0
        var previous: Unicode.Scalar?
        for scalar in cluster.unicodeScalars {
            if scalar == "\u{FE0F}", let previous, isEmojiWithSelector(previous) { return 2 }
            total += columns(of: scalar)
            if total >= 2 { return 2 }
            previous = scalar
        }
        return total
    }

    /// The columns of a scalar on its own: 0, 1 or 2.
    public static func columns(of scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x20 || (0x7F..<0xA0).contains(value) { return 0 }
        if value < 0x300 { return 1 }
        if contains(DisplayWidthTable.zeroWidth, value) { return 0 }
        return contains(DisplayWidthTable.wide, value) ? 2 : 1
    }

    private static func isEmojiWithSelector(_ scalar: Unicode.Scalar) -> Bool {
        contains(DisplayWidthTable.emojiWithSelector, scalar.value)
    }

    private static func contains(_ table: [(first: UInt32, last: UInt32)], _ value: UInt32) -> Bool
    {
        let place = table.partitionIndex { $0.last >= value }
        return place < table.count && table[place].first <= value
    }
}

extension DisplayWidth {
    /// The text with spaces after it up to `columns`; longer text stays as it is.
    public static func padded(_ text: String, to columns: Int) -> String {
        let missing = columns - Self.columns(of: text)
        return missing > 0 ? text + String(repeating: " ", count: missing) : text
    }

    /// The text cut to at most `columns`, with `…` (one column) as its last where something is
    /// missing.
    public static func truncated(_ text: String, to columns: Int) -> String {
        guard self.columns(of: text) > columns else { return text }
        guard columns > 0 else { return "" }
        var kept = ""
        var used = 0
        for cluster in text {
            let width = self.columns(of: cluster)
            if used + width > columns - 1 { break }
            kept.append(cluster)
            used += width
        }
        return kept + "…"
    }
}
