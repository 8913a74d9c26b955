// A text editor as a value.
//
// Invariants: the cursor and the selection's other end are between grapheme clusters,
// 0…clusters.count; a text of one line holds no line break; clusters.count <= maxLength, unless the
// text was longer at the start; the text's scalars are exactly what was typed.

/// A text that is being edited.
public struct TextEditor: Hashable, Sendable {
    /// The text by grapheme clusters.
    public private(set) var clusters: [Character]
    /// The index of the cluster after the cursor.
    public private(set) var cursor: Int
    /// Where the selection began; `nil` if nothing is selected.
    public private(set) var anchor: Int?
    /// Whether it may have several lines.
    public let isMultiline: Bool
    /// The maximum number of clusters.
    public let maxLength: Int?
    /// What was cut last, for `yank`.
    public private(set) var killed = ""
    /// The column that moves up and down aim at.
    private var goal: Int?

    /// The result of a key.
    public enum Outcome: Hashable, Sendable {
        /// The text has changed.
        case edited
        /// The cursor or the selection has changed, or is already at an end.
        case moved
        /// The text is full, or the character is not allowed.
        case refused
        /// The editor does not use this key.
        case ignored
    }

    /// An editor with the cursor at the end.
    public init(_ text: String = "", isMultiline: Bool = false, maxLength: Int? = nil) {
        clusters = Array(text)
        cursor = clusters.count
        self.isMultiline = isMultiline
        self.maxLength = maxLength
    }

    /// The text.
    public var text: String { String(clusters) }

    /// The clusters that are selected.
    public var selection: Range<Int>? {
        guard let anchor, anchor != cursor else { return nil }
        return min(anchor, cursor)..<max(anchor, cursor)
    }

    /// The text that is selected.
    public var selectedText: String? { selection.map { String(clusters[$0]) } }
}

// MARK: - Editing

extension TextEditor {
    /// Replaces the selection with a text, or inserts it at the cursor: as much as fits.
    @discardableResult
    public mutating func insert(_ text: String) -> Outcome {
        let clean = cleaned(text)
        if clean.isEmpty { return .refused }
        let range = selection ?? cursor..<cursor
        let before = String(clusters[..<range.lowerBound])
        let after = String(clusters[range.upperBound...])
        var taken = clean
        if let maxLength {
            let most = max(maxLength, clusters.count)
            while !taken.isEmpty {
                let spare = (before + taken + after).count - most
                if spare <= 0 { break }
                // Each cluster that is left out makes the text shorter by one at most, unless it
                // joins its neighbours.
                taken.removeLast(min(spare, taken.count))
            }
            if taken.isEmpty { return .refused }
        }
        // The inserted text may join its neighbours to one cluster, such as an accent after its
        // letter.
        let head = before + taken
        clusters = Array(head + after)
        cursor = min(Self.clusters(upTo: head.utf8.count, in: clusters), clusters.count)
        anchor = nil
        goal = nil
        return taken == clean ? .edited : .refused
    }

    /// How many clusters it takes to cover this many bytes.
    private static func clusters(upTo bytes: Int, in clusters: [Character]) -> Int {
        var (count, covered) = (0, 0)
        while covered < bytes, count < clusters.count {
            covered += clusters[count].utf8.count
            count += 1
        }
        return count
    }

    private func cleaned(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n", "\t": scalars.append(isMultiline ? scalar : " ")
            default:
                if scalar.value >= 0x20, !(0x7F...0x9F).contains(scalar.value) {
                    scalars.append(scalar)
                }
            }
        }
        return String(scalars)
    }

    private mutating func remove(_ range: Range<Int>, keeping: Bool = false) -> Outcome {
        anchor = nil
        goal = nil
        if range.isEmpty { return .moved }
        if keeping { killed = String(clusters[range]) }
        let head = String(clusters[..<range.lowerBound])
        clusters = Array(head + String(clusters[range.upperBound...]))
        cursor = Self.clusters(upTo: head.utf8.count, in: clusters)
        return .edited
    }

    /// Deletes the selection, or the cluster before the cursor.
    @discardableResult
    public mutating func deleteBackward() -> Outcome {
        remove(selection ?? max(0, cursor - 1)..<cursor)
    }

    /// Deletes the selection, or the cluster after the cursor.
    @discardableResult
    public mutating func deleteForward() -> Outcome {
        remove(selection ?? cursor..<min(clusters.count, cursor + 1))
    }

    /// Cuts the selection, or the word before the cursor.
    @discardableResult
    public mutating func killWordBackward() -> Outcome {
        remove(selection ?? wordStart(before: cursor)..<cursor, keeping: true)
    }

    /// Cuts the selection, or the word after the cursor.
    @discardableResult
    public mutating func killWordForward() -> Outcome {
        remove(selection ?? cursor..<wordEnd(after: cursor), keeping: true)
    }

    /// Cuts from the cursor to the end of the line; at the end, the line break.
    @discardableResult
    public mutating func killToLineEnd() -> Outcome {
        let end = lineRange(at: cursor).upperBound
        let to = end == cursor ? min(clusters.count, cursor + 1) : end
        return remove(cursor..<to, keeping: true)
    }

    /// Cuts from the beginning of the line to the cursor.
    @discardableResult
    public mutating func killToLineStart() -> Outcome {
        remove(lineRange(at: cursor).lowerBound..<cursor, keeping: true)
    }

    /// Inserts what was cut last.
    @discardableResult
    public mutating func yank() -> Outcome { insert(killed) }
}

// MARK: - Moving

extension TextEditor {
    /// Puts the cursor before a cluster; `extending` selects from where it was.
    public mutating func move(to offset: Int, extending: Bool = false) {
        anchor = extending ? anchor ?? cursor : nil
        cursor = min(max(offset, 0), clusters.count)
        goal = nil
    }

    /// Selects everything.
    public mutating func selectAll() {
        anchor = 0
        cursor = clusters.count
    }

    /// The start of the word at or before the cursor.
    func wordStart(before offset: Int) -> Int {
        var index = offset
        while index > 0, !Self.isWord(clusters[index - 1]) { index -= 1 }
        while index > 0, Self.isWord(clusters[index - 1]) { index -= 1 }
        return index
    }

    /// The end of the word at or after the cursor.
    func wordEnd(after offset: Int) -> Int {
        var index = offset
        while index < clusters.count, !Self.isWord(clusters[index]) { index += 1 }
        while index < clusters.count, Self.isWord(clusters[index]) { index += 1 }
        return index
    }

    private static func isWord(_ cluster: Character) -> Bool {
        cluster.isLetter || cluster.isNumber || cluster == "_"
    }

    /// The line that contains a place, without its break.
    func lineRange(at offset: Int) -> Range<Int> {
        var start = offset
        while start > 0, !clusters[start - 1].isNewline { start -= 1 }
        var end = offset
        while end < clusters.count, !clusters[end].isNewline { end += 1 }
        return start..<end
    }

    private mutating func moveLines(by count: Int, extending: Bool) -> Outcome {
        let line = lineRange(at: cursor)
        let column = goal ?? cursor - line.lowerBound
        var target = line
        for _ in 0..<count.magnitude {
            if count < 0 {
                if target.lowerBound == 0 { break }
                target = lineRange(at: target.lowerBound - 1)
            } else {
                if target.upperBound == clusters.count { break }
                target = lineRange(at: target.upperBound + 1)
            }
        }
        let isAtEnd = target == line
        let offset =
            isAtEnd
            ? (count < 0 ? line.lowerBound : line.upperBound)
            : min(target.lowerBound + column, target.upperBound)
        move(to: offset, extending: extending)
        goal = isAtEnd ? nil : column
        return .moved
    }

    /// Executes an editing key (those of readline(3), and common ones of other editors).
    public mutating func apply(_ event: KeyEvent) -> Outcome {
        let extending = event.modifiers.contains(.shift)
        let byWord = !event.modifiers.isDisjoint(with: [.control, .alt])
        switch event.key {
        case .left:
            if !extending, !byWord, let selection {
                move(to: selection.lowerBound)
            } else {
                move(to: byWord ? wordStart(before: cursor) : cursor - 1, extending: extending)
            }
        case .right:
            if !extending, !byWord, let selection {
                move(to: selection.upperBound)
            } else {
                move(to: byWord ? wordEnd(after: cursor) : cursor + 1, extending: extending)
            }
        case .home:
            move(to: byWord ? 0 : lineRange(at: cursor).lowerBound, extending: extending)
        case .end:
            let end = byWord ? clusters.count : lineRange(at: cursor).upperBound
            move(to: end, extending: extending)
        case .up where isMultiline: return moveLines(by: -1, extending: extending)
        case .down where isMultiline: return moveLines(by: 1, extending: extending)
        case .backspace: return byWord ? killWordBackward() : deleteBackward()
        case .delete: return byWord ? killWordForward() : deleteForward()
        case .enter where isMultiline && event.modifiers.isEmpty: return insert("\n")
        case .character(let cluster): return apply(cluster, event.modifiers)
        default: return .ignored
        }
        return .moved
    }

    private mutating func apply(_ cluster: Character, _ modifiers: KeyModifiers) -> Outcome {
        switch (modifiers, cluster) {
        case ([], _): return insert(String(cluster))
        case (.control, "a"): move(to: lineRange(at: cursor).lowerBound)
        case (.control, "e"): move(to: lineRange(at: cursor).upperBound)
        case (.control, "b"): move(to: cursor - 1)
        case (.control, "f"): move(to: cursor + 1)
        case (.alt, "b"): move(to: wordStart(before: cursor))
        case (.alt, "f"): move(to: wordEnd(after: cursor))
        case (.control, "d"): return deleteForward()
        case (.alt, "d"): return killWordForward()
        case (.control, "w"): return killWordBackward()
        case (.control, "k"): return killToLineEnd()
        case (.control, "u"): return killToLineStart()
        case (.control, "y"): return yank()
        default: return .ignored
        }
        return .moved
    }
}
