// The live form as a value: what is shown, where the keys are, what is held in the hand.
//
//            key, click, paste                      let go, Enter
//   free ───────────────────────▶ hold(list, text, number, value, …) ───▶ an edit is sent
//     ▲                              │ Esc: put back (a text is kept as a draft)
//     └──────────────────────────────┘
//
// Always holds: no I/O and no clock: events in, commands out, time a parameter; one control at most
// is held, and what is held is not moved by anybody else: their change waits beside it, and the
// edit that ends the hold carries the token of what was shown when it began.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// What comes in.
enum LiveEvent {
    case input(InputEvent)
    case resized(Size)
    case client(ClientEvent)
    /// Requests of `LiveCommand.request` were answered.
    case answered([Int], RequestOutcome)
    /// Text from the person's own editor; `nil` where it was left without a text.
    case edited(field: String, text: String?)
    /// Time went by.
    case tick
}

/// What goes out.
enum LiveCommand: Equatable {
    case request(Int, Request)
    case presence(PresenceUpdate)
    case quit(ExitStatus)
    case suspend
    case redraw
    /// Give the text to `$EDITOR`.
    case edit(field: String, text: String)
    /// The form is gone; watch whether it comes back.
    case awaitForm
    /// It came back: follow it anew.
    case rejoin
}

/// The live form.
struct LiveModel {
    /// What the keys are at.
    enum Focus: Equatable {
        case control(String)
        /// The title of a folded section.
        case section(Int)
    }

    /// What takes the screen.
    enum Page: Equatable {
        case form
        case help(ScrollState)
        case people
        case find(OpenList)
    }

    /// Whole form, or one control under the prompt.
    enum Mode: Equatable {
        case form
        case pick(field: String, sets: Bool)
    }

    /// A line that goes away by itself.
    struct Message: Equatable {
        var text: String
        var isError: Bool
        var until: UInt64
    }

    /// Something that fades.
    struct Flash: Equatable {
        var peer: LivePeer
        var until: UInt64
    }

    /// What a request was for.
    enum Purpose: Equatable {
        /// `typed`: the text that it sets, which is a draft again where it is refused.
        case edit(String, typed: TextEditor? = nil)
        case undo
        case redo
        case definition
    }

    /// Nanoseconds.
    enum Span {
        static let flash: UInt64 = 2_500_000_000
        static let message: UInt64 = 6_000_000_000
        /// After the last key that turns a value it is set.
        static let settle: UInt64 = 400_000_000
        /// Between two presences: 25 a second, below the 30 that the daemon takes.
        static let presence: UInt64 = 40_000_000
        static let press: UInt64 = 700_000_000
        /// What was on the screen for less was not read.
        static let cards: UInt64 = 500_000_000
    }

    /// What the model cannot know.
    struct Surroundings {
        var environment = StyleEnvironment(theme: .terminal)
        /// A theme that was asked for is kept whatever the background is.
        var choosesTheme = true
        var themes = ThemeChoice.standard
        var keys = KeyMap()
        var today: CivilDate?
        /// A moment as people here read it.
        var localTime: @Sendable (Timestamp) -> String = { $0.description }
        var compile: PatternCompiler

        /// The keys of hints as this terminal can show them.
        func plain(_ hints: [(String, String)]) -> [(String, String)] {
            guard environment.charset == .ascii else { return hints }
            let words = ["←→": "left/right", "↑↓": "up/down"]
            return hints.map { (words[$0.0] ?? $0.0, $0.1) }
        }
    }

    var mirror: FormMirror
    var around: Surroundings
    let mode: Mode
    var size: Size
    var now: UInt64 = 0
    var focus: Focus?
    var hold: Hold?
    var page = Page.form
    /// Texts that were left without being set, by field; looked up, never gone through.
    var drafts: [String: TextEditor] = [:]
    /// The option that the keys are at, by field, as a tag: a new list of options keeps it.
    var cursors: [String: JSON] = [:]
    /// The part of a date or the wheel that the keys turn, by field.
    var parts: [String: Int] = [:]
    /// The month that a calendar is turned to, by field.
    var months: [String: YearMonth] = [:]
    var problems: [String: String] = [:]
    var flashes: [String: Flash] = [:]
    var pressed: (field: String, until: UInt64)?
    /// Conflicts that were settled or put off, by field: up to this revision.
    var settled: [String: Revision] = [:]
    var unfolded: Set<Int> = []
    var folded: Set<Int> = []
    var message: Message?
    var scroll = ScrollState()
    /// Whether the screen moves so that the focus is seen; the wheel looks elsewhere.
    var followsFocus = true
    var purposes: [Int: Purpose] = [:]
    var lastEdit = 0
    var told: PresenceUpdate?
    var toldAt: UInt64 = 0
    /// The slider that the mouse drags, as it lay when it was taken.
    var drag: HitRegion?
    var asksToLeave = false
    /// What waits for Enter in the status line.
    var question: Question?
    /// The cards of the conflict in focus.
    var cards: ConflictCards?
    var ownEdits = OwnEdits()
    /// The value that `pick` ends with.
    var picked: JSON?
    /// Why `pick` ended by itself.
    var parting: String?
    /// Whether Caps Lock is on, as far as the terminal tells.
    var hasCapsLock = false
    /// What the keys could be at the last time, to find what is near when the focus goes away.
    var order: [Focus] = []
    var geometry = LiveGeometry()
    /// The parts of the screen as they were drawn last.
    var drawn = DrawnParts()

    init(_ mirror: FormMirror, _ around: Surroundings, mode: Mode = .form, size: Size) {
        self.mirror = mirror
        self.around = around
        self.mode = mode
        self.size = size
        for (index, section) in mirror.definition.sections.enumerated() where section.isCollapsed {
            folded.insert(index)
        }
        focus = focusable.first
        if case .pick(let field, _) = mode {
            focus = .control(field)
            beginPick(field)
        }
    }

    /// The field that the keys are at.
    var focusedField: String? {
        if case .control(let field)? = focus { field } else { nil }
    }

    /// Everything that happens.
    mutating func handle(_ event: LiveEvent, at now: UInt64) -> [LiveCommand] {
        self.now = now
        var commands: [LiveCommand] = []
        switch event {
        case .input(let input): take(input, &commands)
        case .resized(let size):
            self.size = size
            followsFocus = true
        case .client(let event): take(event, &commands)
        case .answered(let numbers, let outcome): answered(numbers, outcome, &commands)
        case .edited(let field, let text): edited(field, text, &commands)
        case .tick: break
        }
        expire(&commands)
        order = keepFocus()
        noteCards()
        tellPresence(&commands)
        return commands
    }

    /// When something changes by itself: the next `.tick` is due then.
    var deadline: UInt64? {
        var deadlines: [UInt64] = flashes.values.map(\.until)
        if let message { deadlines.append(message.until) }
        if let settles = hold?.settles { deadlines.append(settles) }
        if let pressed { deadlines.append(pressed.until) }
        if mode == .form, isOnline, wantedPresence != told {
            deadlines.append(toldAt &+ Span.presence)
        }
        return deadlines.min()
    }

    var isOnline: Bool { mirror.link == .online }

    private mutating func expire(_ commands: inout [LiveCommand]) {
        flashes = flashes.filter { $0.value.until > now }
        if let message, message.until <= now { self.message = nil }
        if let pressed, pressed.until <= now { self.pressed = nil }
        if let settles = hold?.settles, settles <= now { letGo(&commands) }
    }

    /// Says something in the last line for a while.
    mutating func say(_ text: String, isError: Bool = false) {
        message = Message(text: text, isError: isError, until: now &+ Span.message)
    }

    // MARK: Presence

    private var wantedPresence: PresenceUpdate {
        PresenceUpdate(form: mirror.form, focus: focusedField, draft: sharedDraft)
    }

    /// What others see of what is held: never of a secret, and only what the control would take.
    private var sharedDraft: JSON? {
        guard let hold, let index = mirror.index(hold.field) else { return nil }
        if case .secure = mirror.definition.controls[index].kind { return nil }
        guard let value = hold.draft, value.encodedText.utf8.count <= 4_000 else { return nil }
        if case .wheels = mirror.definition.controls[index].kind { return value }
        let admitted = try? mirror.definition.admit(value, control: index, values: mirror.stored)
        return admitted
    }

    private mutating func tellPresence(_ commands: inout [LiveCommand]) {
        guard mode == .form, isOnline else { return }
        let wanted = wantedPresence
        guard wanted != told else { return }
        guard told == nil || now >= toldAt &+ Span.presence else { return }
        told = wanted
        toldAt = now
        commands.append(.presence(wanted))
    }
}

/// Where things were drawn, for the mouse and for turning pages.
struct LiveGeometry {
    var regions: [HitRegion] = []
    /// The controls' places in the whole form, from its first line.
    var frames: [OwnedFrame] = []
    /// Where the form is seen.
    var window = Rect(x: 0, y: 0, columns: 0, lines: 0)
    var contentLines = 0

    /// The region on top at a place.
    func region(at point: Point) -> HitRegion? {
        regions.last { $0.rect.contains(point) }
    }
}
