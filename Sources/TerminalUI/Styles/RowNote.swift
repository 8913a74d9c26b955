/// A note at the right end of a control's row, with shorter wordings for narrow rows.
struct RowNote {
    /// What a row does without, the first one first.
    enum Spared: Int {
        /// Why a change is proposed.
        case message
        /// Whose focus is here.
        case peers
        /// Who changed the value last.
        case author
        /// Who proposed the change that waits.
        case proposer
        /// Why a value is refused or a control disabled: the line above the keys has the whole
        /// sentence.
        case reason
        /// That somebody is here: a value that is cut is worse.
        case presence
    }

    /// A shorter wording, and what it spares.
    struct Wording {
        let text: StyledText
        let spared: Spared

        init(_ text: StyledText, _ spared: Spared) {
            self.text = text
            self.spared = spared
        }
    }

    private var text: StyledText
    /// The longest first.
    private var shorter: [Wording]

    init(_ text: StyledText, shorter: [Wording] = []) {
        self.text = text
        self.shorter = shorter
    }

    /// The notes as one line of at most `space` columns: in their longest wordings that fit, then
    /// the widest of several cut, so that a counter at its right stays whole; `nil` without notes.
    static func fitted(_ notes: [RowNote], to space: Int) -> StyledText? {
        let whole = line(notes.lazy.map(\.text))
        let fitted = whole.columns > space ? shortened(notes, whole, to: space) : whole
        return fitted.columns > 0 ? fitted : nil
    }

    private static func shortened(
        _ notes: [RowNote], _ whole: StyledText, to space: Int
    ) -> StyledText {
        var (notes, whole) = (notes, whole)
        while whole.columns > space {
            let next = notes.indices.filter { !notes[$0].shorter.isEmpty }
                .min { notes[$0].nextSpared < notes[$1].nextSpared }
            guard let next else { break }
            notes[next].text = notes[next].shorter.removeFirst().text
            whole = line(notes.lazy.map(\.text))
        }
        if whole.columns > space, notes.count > 1,
            let widest = notes.indices.max(by: { notes[$0].text.columns < notes[$1].text.columns })
        {
            let rest = notes[widest].text.columns - (whole.columns - space)
            notes[widest].text = notes[widest].text.cut(to: max(1, rest))
            whole = line(notes.lazy.map(\.text))
        }
        return whole
    }

    private var nextSpared: Int { shorter.first?.spared.rawValue ?? .max }

    /// Texts beside one another; empty ones are left out.
    static func line(_ texts: some Sequence<StyledText>) -> StyledText {
        var line: StyledText?
        for text in texts where text.columns > 0 {
            line?.append("  ", .plain)
            line?.spans += text.spans
            line = line ?? text
        }
        return line ?? StyledText("")
    }
}
