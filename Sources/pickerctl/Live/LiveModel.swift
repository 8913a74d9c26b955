// The live form as a value: the displayed form, the focus and the control being edited.
//
//            key, click, paste                      commit, Enter
//   browsing ──────────────────▶ editing(list, text, number, value, …) ───▶ an edit is sent
//     ▲                              │ Esc: cancelled (a text is kept as a draft)
//     └──────────────────────────────┘
//
// Invariants: no I/O and no clock: the input is events with the time, the output is commands; at
// most one control is being edited, and changes by others do not move it: such a change is
// displayed beside it, and the final edit has the context of what was displayed when editing began.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// The input of the model.
enum LiveEvent {
    case input(InputEvent)
    case resized(Size)
    case client(ClientEvent)
    /// Requests of `LiveCommand.request` were answered.
    case answered([Int], RequestOutcome)
    /// Text from the user's editor; `nil` if the editor was cancelled.
    case edited(field: String, text: String?)
    /// Time has passed.
    case tick
}

/// The output of the model.
enum LiveCommand: Equatable {
    case request(Int, Request)
    case presence(PresenceUpdate)
    case quit(ExitStatus)
    case suspend
    case redraw
    /// Open the text in `$EDITOR`.
    case edit(field: String, text: String)
    /// The form was deleted; watch whether it is created again.
    case awaitForm
    /// The form was created again: follow it.
    case rejoin
}

/// The live form.
struct LiveModel {
    /// The focused element.
    enum Focus: Equatable {
        case control(String)
        /// The title of a folded section.
        case section(Int)
    }

    /// The page on the screen.
    enum Page: Equatable {
        case form
        /// The form, with the keys of the focused control over it.
        case keys
        case help(ScrollState)
        case people
        case find(OpenList)
        /// The commands that have an effect, as options, filtered by what is typed.
        case palette([PickerOption], OpenList)
        case history(FieldHistory)
        case explanation(FieldExplanation)
        /// What waits for approval; the selected one by its name.
        case proposals(selected: String?)
        /// The daemon's forms, as options, filtered by what is typed.
        case forms([PickerOption], OpenList)
    }

    /// Whole form, or one control under the prompt.
    enum Mode: Equatable {
        case form
        case pick(field: String, sets: Bool)

        /// Whether edits are sent.
        var sets: Bool {
            if case .pick(_, let sets) = self { sets } else { true }
        }
    }

    /// A message that disappears after a while.
    struct Message: Equatable {
        var text: String
        /// The same for a line that is short.
        var brief: String?
        var isError: Bool
        var until: UInt64
    }

    /// A change by somebody else. It is bright first; then its author and its age are shown for a
    /// while.
    struct Flash: Equatable {
        var peer: LivePeer
        /// When it was received, in nanoseconds of the loop's clock.
        var since: UInt64

        /// The ages that are shown, in seconds. There are few, because each needs a new frame.
        /// Until the first it is bright.
        private static let ages: [UInt64] = [2, 5, 10, 20, 30, 45]
        static let span: UInt64 = 60_000_000_000

        func isBright(at now: UInt64) -> Bool { now < since &+ Span.flash }

        /// How long ago it was, in seconds, rounded down to one of the ages that are shown.
        func age(at now: UInt64) -> UInt64 {
            let seconds = (now &- since) / 1_000_000_000
            return Self.ages.last { $0 <= seconds } ?? Self.ages[0]
        }

        /// When it must be drawn again.
        func next(after now: UInt64) -> UInt64 {
            let age = Self.ages.first { since &+ $0 * 1_000_000_000 > now }
            return since &+ (age.map { $0 * 1_000_000_000 } ?? Self.span)
        }
    }

    /// The purpose of a request.
    enum Purpose: Equatable {
        /// `typed`: the text that it sets; it becomes a draft again if it is refused.
        case edit(String, typed: TextEditor? = nil)
        case undo
        case redo
        case definition
        /// The history of a field.
        case history(String)
        /// Why a field has its value.
        case explanation(String)
        /// The forms to choose from.
        case forms
        /// Kept edits of these fields.
        case kept([String])
        case cancelRun
        /// A change of the lease of a field.
        case lease(StateLease)
        /// An approval, a refusal, or the end of an own proposal.
        case vote
        /// The newest changes, of which some may be without approval.
        case brokenGlass
    }

    /// Nanoseconds.
    enum Span {
        static let flash: UInt64 = 2_000_000_000
        static let message: UInt64 = 6_000_000_000
        /// The delay after the last step before a value is set.
        static let autoSet: UInt64 = 400_000_000
        /// Between two presence updates: 25 per second; the daemon accepts 30.
        static let presence: UInt64 = 40_000_000
        static let press: UInt64 = 700_000_000
        /// An answer that takes longer is missed: the header says so.
        static let answer: UInt64 = 1_000_000_000
        /// Cards that were on the screen for less time were not read.
        static let cards: UInt64 = 500_000_000
    }

    /// A page that comes in from the right, in a few frames.
    struct Slide: Equatable {
        /// Nanoseconds of the loop's clock.
        var since: UInt64

        /// Ten frames per second.
        private static let frame: UInt64 = 100_000_000
        private static let frames: UInt64 = 3

        func isOver(at now: UInt64) -> Bool { now >= since &+ Self.frames * Self.frame }

        func next(after now: UInt64) -> UInt64 {
            since &+ ((now &- since) / Self.frame + 1) * Self.frame
        }

        /// The distance of the page from its final place, in columns, for a window of this width.
        func columns(of window: Int, at now: UInt64) -> Int {
            let done = min((now &- since) / Self.frame + 1, Self.frames)
            return window - window * Int(done) / Int(Self.frames)
        }
    }

    /// Properties of the environment.
    struct Surroundings {
        var environment = StyleEnvironment(theme: .terminal)
        /// A requested theme is used with any background.
        var choosesTheme = true
        /// Whether pages slide.
        var hasMotion = false
        var themes = ThemeChoice.standard
        var keys = KeyMap()
        var today: CivilDate?
        /// Formats a time for people.
        var localTime: @Sendable (Timestamp) -> String = { $0.description }
        /// The time of day: for the rest of leases, and the beginning of a history without a newest
        /// change.
        var clock: @Sendable () -> Timestamp = { Timestamp(milliseconds: 0) }
        var compile: PatternCompiler
        /// The message of every edit, from `-m`.
        var message: String?
        /// The last message that was typed, for the next question.
        var lastMessage = ""

        /// The names of keys in hints, as the terminal can display them.
        func plain(_ hints: [KeyHint]) -> [KeyHint] {
            guard environment.glyphs.isASCII else { return hints }
            return hints.map { (KeyNames.plain($0.keys), $0.words) }
        }
    }

    var presentation: FormPresentation
    var around: Surroundings
    let mode: Mode
    var size: Size
    var now: UInt64 = 0
    var focus: Focus?
    var activeEdit: ControlEdit?
    var page = Page.form
    /// Drafts: texts that were not set, by field; only looked up, never iterated.
    var drafts: [String: TextEditor] = [:]
    /// The highlighted option by field, as a tag, so that it survives a new list of options.
    var cursors: [String: JSON] = [:]
    /// The selected part of a date, or the selected wheel, by field.
    var parts: [String: Int] = [:]
    /// The displayed month of a calendar, by field.
    var months: [String: YearMonth] = [:]
    var problems: [String: String] = [:]
    /// Fields that somebody else has set while a refused text is in them.
    var overtaken: Set<String> = []
    var flashes: [String: Flash] = [:]
    var pressed: (field: String, until: UInt64)?
    /// Conflicts that this user resolved, by field: up to this revision.
    var settled: [String: Revision] = [:]
    /// Conflicts whose cards the user put aside, by field: up to this revision.
    var putAside: [String: Revision] = [:]
    var folded: Set<Int> = []
    var message: Message?
    var scroll = ScrollState()
    /// The page that comes in.
    var slide: Slide?
    /// Whether the screen scrolls to the focus; the mouse wheel turns this off.
    var followsFocus = true
    var purposes: [Int: Purpose] = [:]
    /// Since when an edit that is displayed waits and the daemon has answered nothing.
    var unansweredSince: UInt64?
    var lastEdit = 0
    var sentPresence: PresenceUpdate?
    var presenceSentAt: UInt64 = 0
    /// The slider that the mouse drags, with its position at the start.
    var drag: HitRegion?
    var asksToLeave = false
    /// Whether a letter is typed into the focused text: it was reached by an arrow, Tab, Enter or a
    /// click. If it was reached by a letter, letters are still commands.
    var isReady = false
    /// The keys typed into the text being edited; others see a draft from the second one on.
    var typedKeys = 0
    /// The characters typed into a date since another key, which may become a whole date.
    var typedDate = ""
    /// The value of the date before that.
    var typedDateBase: JSON = .null
    /// Required fields that the user left empty. These are then marked as missing.
    var leftEmpty: Set<String> = []
    /// The question in the status line.
    var question: Question?
    /// When the next value of a control ends.
    var nextLease: NextLease?
    /// The message of the next edit.
    var nextMessage: String?
    /// The newest change without approval.
    var brokenGlass = BrokenGlass()
    /// Questions to the daemon that are asked again when they are answered.
    var outdated: [Purpose] = []
    /// The cards of the focused conflict.
    var cards: ConflictCards?
    var ownEdits = OwnEdits()
    /// Edits that were made for another replica than the one that answers.
    var kept = KeptEdits<Void>()
    /// The result of `pick`.
    var picked: JSON?
    /// The form to open next, instead of this one.
    var next: String?
    /// Why `pick` ended without a value.
    var failure: String?
    /// Whether Caps Lock is on, if the terminal reports it.
    var hasCapsLock = false
    /// The previous focusable elements, to find the nearest when the focused one disappears.
    var order: [Focus] = []
    var geometry = LiveGeometry()
    /// The cached parts of the screen.
    var drawn = DrawnParts()
    /// What differs from the last frame.
    var stale = StaleParts.everything
    /// The lines of the last frame that may differ from the frame before; `nil` for all.
    var drawnLines: Range<Int>?

    init(_ presentation: FormPresentation, _ around: Surroundings, mode: Mode = .form, size: Size) {
        self.presentation = presentation
        self.around = around
        self.mode = mode
        self.size = size
        for (index, section) in presentation.definition.sections.enumerated()
        where section.isCollapsed {
            folded.insert(index)
        }
        focus = focusable.first
        if case .pick(let field, _) = mode {
            focus = .control(field)
            beginPick(field)
        }
    }

    /// The focused field.
    var focusedField: String? {
        if case .control(let field)? = focus { field } else { nil }
    }

    /// Handles an event.
    mutating func handle(_ event: LiveEvent, at now: UInt64) -> [LiveCommand] {
        let (commands, change) = begin(event, at: now)
        return commands + settle(change)
    }

    /// The first part of handling an event: what it does. Its commands can be carried out before
    /// the second part, `settle`, so that others do not wait for that.
    mutating func begin(_ event: LiveEvent, at now: UInt64) -> ([LiveCommand], RowChange?) {
        let mayBeRows = mayBeRows(event, at: now)
        let message = message
        self.now = now
        var commands: [LiveCommand] = []
        var rows: [Int]?
        switch event {
        case .input(let input): take(input, &commands)
        case .resized(let size):
            self.size = size
            followsFocus = true
        case .client(.changed(let change)): rows = take(change, &commands)
        case .client(let event): take(event, &commands)
        case .answered(let numbers, let outcome):
            unansweredSince = nil
            answered(numbers, outcome, &commands)
        case .edited(let field, let text): edited(field, text, &commands)
        case .tick: break
        }
        guard mayBeRows, let rows else { return (commands, nil) }
        return (commands, RowChange(controls: rows, message: message))
    }

    /// The second part: what depends on time and on what is shown now.
    mutating func settle(_ change: RowChange?) -> [LiveCommand] {
        var commands: [LiveCommand] = []
        presentation.readEdits()
        unansweredSince = presentation.waitingEdits == 0 ? nil : unansweredSince ?? now
        expire(&commands)
        if !noteStale(change) {
            order = keepFocus()
            noteCards()
        }
        tellPresence(&commands)
        return commands
    }

    /// When the next `.tick` is due.
    var deadline: UInt64? {
        var first: UInt64?
        func note(_ due: UInt64?) {
            if let due { first = min(first ?? due, due) }
        }
        for flash in flashes.values { note(flash.next(after: now)) }
        note(message?.until)
        note(activeEdit?.setsAt)
        if let unansweredSince, !isAnswerMissed { note(unansweredSince &+ Span.answer) }
        note(pressed?.until)
        if let slide { note(slide.next(after: now)) }
        note(leaseTick)
        note(glassTick)
        if countsSeconds { note((now / 1_000_000_000 + 1) * 1_000_000_000) }
        if mode == .form, isOnline, wantedPresence != sentPresence {
            note(presenceSentAt &+ Span.presence)
        }
        return first
    }

    var isOnline: Bool { presentation.link == .online }

    /// Whether the daemon is silent though the connection is there, so that what the screen shows
    /// may not be set yet.
    var isAnswerMissed: Bool { unansweredSince.map { $0 &+ Span.answer <= now } ?? false }

    private mutating func expire(_ commands: inout [LiveCommand]) {
        if flashes.values.contains(where: { $0.since &+ Flash.span <= now }) {
            flashes = flashes.filter { $0.value.since &+ Flash.span > now }
        }
        if let slide, slide.isOver(at: now) { self.slide = nil }
        if let message, message.until <= now { self.message = nil }
        if let pressed, pressed.until <= now { self.pressed = nil }
        if let setsAt = activeEdit?.setsAt, setsAt <= now { commitEdit(&commands) }
    }

    /// Shows a message in the last line for a while.
    mutating func say(_ text: String, brief: String? = nil, isError: Bool = false) {
        message = Message(text: text, brief: brief, isError: isError, until: now &+ Span.message)
    }
}
