// What keys do: in a word or two for the line of keys and the box over the form, and in a few more
// for the page of all keys and the list of commands.

internal import SyncCore

/// The words of the line of keys, and of the box with the keys of a control. A hint has no others.
struct KeyWords: Equatable {
    let text: String

    fileprivate init(_ text: String) { self.text = text }

    // MARK: Going elsewhere

    static let move = KeyWords("move")
    static let scroll = KeyWords("scroll")
    static let back = KeyWords("back")
    static let goThere = KeyWords("go there")
    static let open = KeyWords("open")
    static let unfold = KeyWords("unfold")
    static let find = KeyWords("find")
    static let commands = KeyWords("commands")
    static let help = KeyWords("help")
    static let quit = KeyWords("quit")
    static let conflict = KeyWords(LiveWords.conflict)

    // MARK: Choosing and typing

    static let choose = KeyWords("choose")
    static let select = KeyWords("select")
    static let filter = KeyWords("filter")
    static let option = KeyWords("option")
    static let done = KeyWords("done")
    static let close = KeyWords("close")
    static let edit = KeyWords("edit")
    static let type = KeyWords("type")
    static let append = KeyWords("append")
    static let clear = KeyWords("clear")
    static let editor = KeyWords("$EDITOR")
    static let toggle = KeyWords("toggle")
    static let change = KeyWords("change")
    static let step = KeyWords("step")
    static let part = KeyWords("part")
    static let wheel = KeyWords("wheel")
    static let day = KeyWords("day")
    static let month = KeyWords("month")
    static let chooseDay = KeyWords("choose a day")
    static let press = KeyWords("press")

    // MARK: What becomes of an edit

    static let set = KeyWords("set")
    static let setNow = KeyWords("set now")
    static let setNext = KeyWords("set, next")
    static let setForEverybody = KeyWords("set for everybody")
    static let settle = KeyWords("settle for everybody")
    static let keepAsDraft = KeyWords("keep as draft")
    static let discard = KeyWords("discard")
    static let cancel = KeyWords("cancel")
    static let later = KeyWords("later")

    // MARK: Questions

    static let yes = KeyWords("yes")
    static let no = KeyWords("no")
    static let doIt = KeyWords("do it")
    static let reset = KeyWords("reset")
    static let keepIt = KeyWords("keep it")
    static let cancelIt = KeyWords("cancel it")
    static let letItRun = KeyWords("let it run")
    static let cancelRun = KeyWords("cancel the run")
    static let keepForNext = KeyWords("keep for the next change")
    static let changeNothing = KeyWords("change nothing")
    static let propose = KeyWords("propose")
    static let undo = KeyWords(LiveWords.undo)
    static let redo = KeyWords("redo")

    /// What undo would revert, in words.
    static func undo(_ words: String?) -> KeyWords { words.map { KeyWords($0) } ?? .undo }

    /// What is done with a proposal.
    static func vote(_ vote: LiveModel.Vote) -> KeyWords { KeyWords(vote.rawValue) }

    // MARK: The box

    static let resetAsks = KeyWords("reset (asks)")
    static let nextControl = KeyWords("next control")
    static let nextConflict = KeyWords("next conflict")
    static let findControl = KeyWords("find a control")
    static let allCommands = KeyWords("all commands")
    static let whoIsHere = KeyWords("who is here")

    static let allKeys = KeyWords("all keys")

    /// The kind of the focused control and its label.
    static func title(_ kind: ControlKind, isMenu: Bool, _ label: String) -> String {
        let word =
            switch kind {
            case .picker: isMenu ? "Menu" : "Picker"
            case .wheels: "Wheels"
            case .toggle: "Toggle"
            case .slider: "Slider"
            case .stepper: "Stepper"
            case .date: "Date"
            case .text: "Text"
            case .secure: "Secret"
            case .gauge: "Gauge"
            case .button: "Button"
            case .label: "Label"
            }
        return "\(word): \(label)"
    }

    static let section = "Section"
}

/// Keys, and what they do now.
typealias KeyHint = (keys: String, words: KeyWords)

/// The names of several keys.
enum KeyNames {
    static let arrows = "arrows"
    static let any = "any key"

    /// The names where only ASCII can be shown.
    static func plain(_ keys: String) -> String {
        ["←→": "left/right", "↑↓": "up/down", "Esc ↑↓": "Esc up/down"][keys] ?? keys
    }
}

// MARK: - All keys

extension KeyAction {
    /// What the action does, for the page of all keys; the list of commands says the same.
    var words: String {
        switch self {
        case .up: "the control above"
        case .down: "the control below"
        case .next: "the next control"
        case .previous: "the control before"
        case .first: "the first control"
        case .last: "the last control"
        case .pageUp: "a page up"
        case .pageDown: "a page down"
        case .find: KeyWords.findControl.text
        case .fold: "fold the section"
        case .conflict: "go to the next conflict"
        case .palette: "all commands, by name"
        case .act: "edit, choose, toggle or press"
        case .left: "to the left, less"
        case .right: "to the right, more"
        case .increase: "one more"
        case .decrease: "one less"
        case .edit: "type a text or number"
        case .external: "edit the text in $EDITOR"
        case .reset: "reset (asks), or discard a draft"
        case .undo: "undo your last edit"
        case .redo: "redo what you have undone"
        case .message: "say why, for the next change"
        case .lease: "when this or the next value ends"
        case .cancelRun: "cancel the run of a button (asks)"
        case .history: "history: who set it to what"
        case .explain: "explain why it has its value"
        case .proposals: "proposals that wait for approval"
        case .forms: "open another form"
        case .kept: "edits for another daemon"
        case .people: KeyWords.whoIsHere.text
        case .escape: "cancel, close, decide a conflict later"
        case .suspend: "suspend"
        case .redraw: "draw the screen again"
        case .help: "help: all keys"
        case .leave: KeyWords.quit.text
        }
    }
}

/// The page of all keys beyond what actions do.
enum HelpWords {
    static let sections: [(title: String, actions: [KeyAction])] = [
        (
            "Move",
            [
                .up, .down, .next, .previous, .first, .last, .pageUp, .pageDown, .find, .fold,
                .conflict, .palette,
            ]
        ),
        (
            "Change",
            [
                .act, .left, .right, .increase, .decrease, .edit, .external, .reset, .undo, .redo,
                .message, .lease, .cancelRun,
            ]
        ),
        (
            "More",
            [
                .history, .explain, .proposals, .forms, .kept, .people, .escape, .suspend, .redraw,
                .help, .leave,
            ]
        ),
    ]

    static let withOthers = "With others"
    static let others: [(keys: String, text: String)] = [
        ("1-9", "choose an option, or type a number"),
        ("Left Right Enter", "choose a card of a conflict; settle it"),
        ("", "A mark with a name: somebody is there."),
        ("", "What you edit does not change: a change by somebody else waits beside it."),
        ("Mouse", "click, drag, wheel"),
    ]
}

// MARK: - The list of commands

extension KeyWords {
    static func theme(_ name: String) -> String { "Theme \(name)" }
    static func go(to title: String) -> String { "Go to \(title)" }
}
