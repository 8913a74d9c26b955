/// How many combining marks follow one character.
///
/// Unicode text is compared and hashed in a normal form, in which the marks of a character are
/// sorted: two hundred thousand marks take a minute. The Stream-Safe Text Format (UAX #15, section
/// 13) allows 30 in a row, more than any language uses. Text with more is refused where it enters,
/// so that every later comparison is linear.
public enum CombiningMarks {
    /// The most combining marks in a row.
    public static let runMax = 30
    /// What a refusal expects.
    public static let expected = "at most \(runMax) in a row"

    /// Whether a scalar is a combining mark: it, or the first scalar of its decomposition, has a
    /// combining class other than 0 (UAX #44, Canonical_Combining_Class).
    static func isMark(_ value: UInt32) -> Bool {
        switch value {
        // None of the scripts with the most text. Looking up the property takes longer.
        case 0..<0x300, 0x3100..<0xA66F, 0xAC00..<0xFB1E: return false
        // The only ones of class 0 whose decomposition begins with a mark.
        case 0x0F73, 0x0F75, 0x0F81: return true
        default:
            guard let scalar = Unicode.Scalar(value) else { return false }
            return scalar.properties.canonicalCombiningClass != .notReordered
        }
    }

    /// The marks in a row, while scalars are read in order.
    struct Run {
        private var count = 0
        /// The position after the last mark.
        private var end = -1

        /// Counts a scalar between two positions. Returns whether the run is too long.
        @inline(__always)
        mutating func isTooLong(with value: UInt32, from start: Int, to end: Int) -> Bool {
            guard value >= 0x300, CombiningMarks.isMark(value) else { return false }
            count = start == self.end ? count + 1 : 1
            self.end = end
            return count > CombiningMarks.runMax
        }
    }
}

extension String {
    /// Whether more than `CombiningMarks.runMax` combining marks follow one another.
    public var hasTooManyMarks: Bool {
        let isASCII = utf8.withContiguousStorageIfAvailable { bytes in
            var all: UInt8 = 0
            for byte in bytes { all |= byte }
            return all < 0x80
        }
        if isASCII == true { return false }
        var run = CombiningMarks.Run()
        for (place, scalar) in unicodeScalars.enumerated()
        where run.isTooLong(with: scalar.value, from: place, to: place + 1) {
            return true
        }
        return false
    }
}
