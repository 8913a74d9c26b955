internal import CPCRE2

// What a match has looked at, counted at each of a pattern's items.

/// The bytes of a pattern: what an item may look at is told by how it is written.
final class PatternItems: Sendable {
    private let bytes: [UInt8]
    /// By place: that of the next `}`, or the end. Each step of a match asks for it.
    private let braces: [Int]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var braces = Array(repeating: bytes.count, count: bytes.count)
        var next = bytes.count
        for place in bytes.indices.reversed() {
            if bytes[place] == UInt8(ascii: "}") { next = place }
            braces[place] = next
        }
        self.braces = braces
    }

    /// What one character costs that an item is tried on: a class is looked through.
    func weight(length: Int) -> Int { 1 &+ length &>> 4 }

    /// Whether an item may look at many characters and fail all the same, so that nothing behind it
    /// is reached: it asks for a number of them, or for what a group matched.
    func mayFailLate(at place: Int, length: Int) -> Bool {
        guard place >= 0, length > 1, place + length <= bytes.count else { return false }
        if bytes[place + length - 1] == UInt8(ascii: "}") { return true }
        if length > 2, braces[place] < place + length { return true }
        switch (bytes[place], bytes[place + 1]) {
        case (UInt8(ascii: "\\"), UInt8(ascii: "1")...UInt8(ascii: "9")): return true
        case (UInt8(ascii: "\\"), UInt8(ascii: "g")), (UInt8(ascii: "\\"), UInt8(ascii: "k")):
            return true
        case (UInt8(ascii: "("), UInt8(ascii: "?")):
            return length > 3 && bytes[place + 2] == UInt8(ascii: "P")
        default: return false
        }
    }
}

/// Steps that a match may still take, and the place of its last callout.
struct StepCount {
    let items: PatternItems
    var left: Int
    private var place = 0
    private var weight = 1

    init(items: PatternItems, left: Int) {
        self.items = items
        self.left = left
    }

    /// Counts an item that is tried at `place` of a text; whether the match may go on.
    ///
    /// The item before it looked at what lies between, where it matched. One that fails after a
    /// long look is counted with all of the text that is left, before it is tried.
    mutating func count(at place: Int, of textBytes: Int, item: Int, length: Int) -> Bool {
        // Without checks for overflow: a text and a pattern have at most 2^20 bytes each, and a
        // match ends before `left` is less than the negative product of both.
        let looked = max(0, place &- self.place)
        left &-= 1 &+ looked &* weight
        weight = items.weight(length: length)
        left &-= weight &- 1
        if items.mayFailLate(at: item, length: length) { left &-= (textBytes &- place) &* weight }
        self.place = place
        return left > 0
    }
}

/// Called by PCRE2 before each item: pcre2callout(3). Another answer than 0 ends the match.
func countStep(
    _ block: UnsafeMutablePointer<pcre2_callout_block_8>?, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let block, let data else { return PCRE2_ERROR_CALLOUT }
    let mayGoOn = data.assumingMemoryBound(to: StepCount.self).pointee.count(
        at: block.pointee.current_position, of: block.pointee.subject_length,
        item: block.pointee.pattern_position, length: block.pointee.next_item_length)
    return mayGoOn ? 0 : PCRE2_ERROR_CALLOUT
}
