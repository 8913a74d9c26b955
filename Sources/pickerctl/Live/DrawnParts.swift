// A cache of drawn parts of the screen, so that a frame draws only parts that have changed.
//
// Invariants: a cached drawing is used only if all inputs of the part are equal (its `PartLook`),
// so every input of a part must be in its `PartLook`. A random test compares each frame with one
// that is drawn without the cache.

internal import SyncCore
internal import TerminalUI

/// Cached drawings by place; only looked up, never iterated.
struct DrawnParts {
    /// The common inputs of all drawings; if they change, the cache is cleared.
    private struct Common: Equatable {
        var size: Size
        var labelColumns: Int
        var theme: Theme
        var depth: ColorDepth
        var charset: Charset
        var definition: Int

        init(_ size: Size, _ definition: Int, _ environment: StyleEnvironment) {
            self.size = size
            self.definition = definition
            labelColumns = environment.labelColumns
            theme = environment.theme
            depth = environment.depth
            charset = environment.charset
        }
    }

    /// A drawing; a class, so that a dictionary look-up does not copy it.
    private final class Drawn {
        let look: PartLook
        let canvas: Canvas

        init(_ look: PartLook, _ canvas: Canvas) {
            self.look = look
            self.canvas = canvas
        }
    }

    /// The last frame, if it was the form's.
    var frame: Canvas?
    /// The environment of the last whole frame.
    private(set) var environment: StyleEnvironment?
    private var common: Common?
    private var drawings: [PartLook.Place: Drawn] = [:]
    private var labels: (definition: Int, columns: [Int])?
    /// The lines of controls at rest, by their number.
    private var resting: [Int: (look: ControlLook, lines: Int)] = [:]

    /// Prepares for a frame of this size.
    mutating func begin(size: Size, definition: Int, _ environment: StyleEnvironment) {
        self.environment = environment
        let common = Common(size, definition, environment)
        if common == self.common { return }
        drawings = [:]
        resting = [:]
        self.common = common
    }

    /// The columns of each control's label, measured once for a definition.
    mutating func labelColumns(of definition: Int, _ measure: () -> [Int]) -> [Int] {
        if let labels, labels.definition == definition { return labels.columns }
        let columns = measure()
        labels = (definition, columns)
        return columns
    }

    /// The lines of a control at rest with this look; measures it if they are not cached.
    mutating func restingLines(
        of control: Int, _ look: ControlLook, _ measure: () -> Int
    ) -> Int {
        if let known = resting[control], known.look == look { return known.lines }
        let lines = measure()
        resting[control] = (look, lines)
        return lines
    }

    /// Whether a part was drawn with this look last.
    func isCurrent(_ look: PartLook) -> Bool { drawings[look.place]?.look == look }

    /// The drawing of a part with this look; draws it if it is not cached.
    mutating func drawing(
        of look: PartLook, columns: Int, _ make: () -> some Block
    ) -> Canvas {
        let place = look.place
        if let kept = drawings[place], kept.look == look { return kept.canvas }
        let canvas = Canvas.drawing(make(), columns: columns)
        drawings[place] = Drawn(look, canvas)
        return canvas
    }
}

/// A column of drawings.
struct DrawnColumn: Block {
    private struct Part {
        var owner: String?
        var y: Int
        var canvas: Canvas
    }

    private var parts: [Part] = []
    let columns: Int
    private var lines = 0
    /// The positions of the controls, from the first line.
    private(set) var frames: [OwnedFrame] = []

    /// An empty column of that width.
    init(columns: Int) { self.columns = columns }

    var isEmpty: Bool { lines == 0 && parts.isEmpty }

    /// Adds a drawing, which may belong to a control.
    mutating func append(_ canvas: Canvas, of owner: String? = nil) {
        let rect = place(y: lines, canvas)
        if let owner { frames.append(OwnedFrame(owner: owner, rect: rect)) }
        // Buttons side by side have places of their own.
        for frame in canvas.frames where owner == nil {
            var place = frame.rect
            place.y += lines
            frames.append(OwnedFrame(owner: frame.owner, rect: place))
        }
        parts.append(Part(owner: owner, y: lines, canvas: canvas))
        lines += rect.lines
    }

    /// Adds an empty line.
    mutating func appendLine() { lines += 1 }

    /// The lines of the part that is drawn over a line; `nil` for an empty line.
    func part(at line: Int) -> Range<Int>? {
        parts.lazy.map { $0.y..<$0.y + $0.canvas.buffer.lines }.first { $0.contains(line) }
    }

    private func place(y: Int, _ canvas: Canvas) -> Rect {
        Rect(x: 0, y: y, columns: columns, lines: canvas.buffer.lines)
    }

    func measure(width: Int) -> Size { Size(columns: min(width, columns), lines: lines) }

    func render(into canvas: inout Canvas, in rect: Rect) {
        for part in parts {
            var place = place(y: rect.y + part.y, part.canvas)
            place.x = rect.x
            if canvas.clip.intersection(place).isEmpty { continue }
            if let owner = part.owner {
                Owned(by: owner, Picture(part.canvas)).render(into: &canvas, in: place)
            } else {
                Picture(part.canvas).render(into: &canvas, in: place)
            }
        }
    }
}

/// All inputs of a part of the screen, except the definition, the size and the environment.
enum PartLook: Equatable {
    case header(HeaderLook)
    /// The line above the footer.
    case rule
    /// The words of the footer.
    case words(WordsLook)
    /// What the keys do.
    case hints(HintsLook)
    /// The words about the form or a section.
    case note(String)
    case section(SectionLook)
    /// A control by its number in the definition.
    case control(Int, ControlLook)
    /// Buttons side by side; `isTight` if an input is above them without an empty line.
    case buttons([ControlLook], first: Int, isTight: Bool)
    /// The question of a button below its row. The button alone in its row has the same look.
    case question(Int, ControlLook)
    /// The line below a button with `runs`.
    case run(RunLook)

    /// The cache key of a part.
    enum Place: Hashable {
        case header, rule, words, hints
        case note(String)
        case section(Int)
        case control(Int)
        case buttons(Int, isTight: Bool)
        case question(Int)
        case run(Int)
    }

    var place: Place {
        switch self {
        case .header: .header
        case .rule: .rule
        case .words: .words
        case .hints: .hints
        case .note(let text): .note(text)
        case .section(let look): .section(look.number)
        case .control(let index, _): .control(index)
        case .buttons(_, let first, let isTight): .buttons(first, isTight: isTight)
        case .question(let index, _): .question(index)
        case .run(let look): .run(look.index)
        }
    }
}

/// The inputs of the title of a form.
struct HeaderLook: Equatable {
    var link: FormPresentation.Link
    var others: [LivePeer]
    var conflicts: Int
    var attention: [[String]]
    var isAnswerMissed: Bool
}

/// The inputs of the hints.
struct HintsLook: Equatable {
    var page: LiveModel.Page
    var focus: LiveModel.Focus?
    var activeEdit: ControlEdit?
    var conflicts: Int
    var undo: String?
    var asks: Bool
    /// What the keys of a question that is answered with text do, or those of the proposals.
    var answers: [KeyWords]
    var isReady: Bool
    /// Whether there is a text that typing appends to.
    var appends: Bool
    var canEdit: Bool
    var hasConflicts: Bool
    var hasDraft: Bool
    var isBesideButton: Bool
    var isRunning: Bool
    var keys: KeyMap
}

/// The text that describes what has the focus, and what kind of text it is.
struct WordsLook: Equatable {
    /// How important it is.
    enum Kind { case question, choice, error, note, about }

    /// The same in several wordings, the longest first.
    var texts: [String]
    var kind: Kind

    init(_ texts: String..., kind: Kind) { self.init(texts: texts, kind: kind) }

    init(texts: [String], kind: Kind) {
        self.texts = texts
        self.kind = kind
    }
}

/// The inputs of the title of a section.
struct SectionLook: Equatable {
    var number: Int
    var isFocused: Bool
    var isFolded: Bool
    /// For a folded section: how many of its controls have a missing or invalid value.
    var problems: Int
}

/// The inputs of the view of a control, except its definition and the environment.
struct ControlLook: Equatable {
    var state: ControlState
    var cards: [PeerValue]
    var card: Int?
    var shown: ShownValue
    var text: String
    var activeEdit: ControlEdit?
    var cursor: Int?
    var part: Int?
    var month: YearMonth?
    var draft: TextEditor?
    /// A text that is ready for keys, with its caret.
    var ready: TextEditor?
    var kept: String?
    var isPressed: Bool
    var isSecretSet: Bool?
    var hasCapsLock: Bool
    var today: CivilDate?
}

extension LiveModel {
    /// The current inputs of the title.
    var headerLook: PartLook {
        .header(
            HeaderLook(
                link: presentation.link, others: presentation.others.map(\.peer),
                conflicts: conflicted.count, attention: attention, isAnswerMissed: isAnswerMissed))
    }

    /// The current inputs of the hints.
    var hintsLook: PartLook {
        .hints(
            HintsLook(
                page: page, focus: focus, activeEdit: activeEdit,
                conflicts: focusedIndex.map { shownCards($0).count } ?? 0, undo: undoHint,
                asks: question != nil, answers: answerHints, isReady: isReady,
                appends: focusedIndex.map(appends) ?? false,
                canEdit: focusedIndex.map(canEdit) ?? false,
                hasConflicts: !conflicted.isEmpty,
                hasDraft: focusedField.map { drafts[$0] != nil } ?? false,
                isBesideButton: isBesideButton,
                isRunning: focusedIndex.map(isRunning) ?? false,
                keys: around.keys))
    }

    /// The current inputs of the title of a section.
    func sectionLook(_ section: FormSection, _ number: Int) -> SectionLook {
        let isFolded = folded.contains(number)
        let problems = section.fields.count { shown($0).isMissing || shown($0).isInvalid }
        return SectionLook(
            number: number, isFocused: focus == .section(number), isFolded: isFolded,
            problems: isFolded ? problems : 0)
    }

    /// The current inputs of the view of a control.
    ///
    /// This runs for each control in each frame, so it does not copy the control.
    func look(_ index: Int) -> ControlLook {
        let field = presentation.definition.controls[index].id
        let isPicker =
            if case .picker = presentation.definition.controls[index].kind { true } else { false }
        let state = state(index)
        let isEdited = activeEdit?.field == field
        return ControlLook(
            state: state, cards: isEdited ? [] : shownCards(index), card: chosenCard(index),
            shown: shown(index), text: valueText(index),
            activeEdit: isEdited ? activeEdit : nil,
            // It is only drawn for the focused control.
            cursor: isPicker && state.isFocused ? cursor(index) : nil,
            part: parts[field], month: months[field], draft: drafts[field],
            ready: state.isFocused && state.isEditable ? readyText(index) : nil,
            kept: keptText(field), isPressed: pressed?.field == field,
            isSecretSet: presentation.isSecretSet(index),
            hasCapsLock: hasCapsLock, today: around.today)
    }
}
