// Maps keys to commands.

internal import SyncCore
internal import TerminalUI

/// The actions of keys while no control is being edited.
enum KeyAction: String, CaseIterable {
    case up, down, left, right, next, previous, first, last, pageUp, pageDown
    case act, increase, decrease, edit, external, reset, undo, redo, find, help, people, fold
    case leave, escape, suspend, redraw, kept, conflict, palette, history, forms
    case cancelRun, explain, message, lease, proposals
}

/// The keys of each action; the user may change them.
struct KeyMap: Equatable {
    private var actions: [KeyEvent: KeyAction] = [:]
    /// What `names(of:)` returns, because each frame shows several.
    private var namesByAction: [KeyAction: [String]] = [:]

    init() {
        for (key, action) in Self.standard { actions[key] = action }
        nameAll()
    }

    private static let standard: [(KeyEvent, KeyAction)] = [
        (KeyEvent(.up), .up), (KeyEvent(.down), .down), (KeyEvent(.left), .left),
        (KeyEvent(.right), .right), (KeyEvent(.character("k")), .up),
        (KeyEvent(.character("j")), .down), (KeyEvent(.character("h")), .left),
        (KeyEvent(.character("l")), .right), (KeyEvent(.tab), .next),
        (KeyEvent(.tab, .shift), .previous), (KeyEvent(.home), .first), (KeyEvent(.end), .last),
        (KeyEvent(.character("g")), .first), (KeyEvent(.character("G")), .last),
        (KeyEvent(.pageUp), .pageUp), (KeyEvent(.pageDown), .pageDown),
        (KeyEvent(.character("b"), .control), .pageUp),
        (KeyEvent(.character("f"), .control), .pageDown),
        (KeyEvent(.enter), .act), (KeyEvent(.character(" ")), .act),
        (KeyEvent(.character("+")), .increase), (KeyEvent(.character("=")), .increase),
        (KeyEvent(.character("-")), .decrease), (KeyEvent(.character("i")), .edit),
        (KeyEvent(.character("e")), .external), (KeyEvent(.backspace), .reset),
        (KeyEvent(.delete), .reset), (KeyEvent(.character("u")), .undo),
        (KeyEvent(.character("U")), .redo), (KeyEvent(.character("r"), .control), .redo),
        (KeyEvent(.character("/")), .find), (KeyEvent(.character("?")), .help),
        (KeyEvent(.function(1)), .help), (KeyEvent(.character("w")), .people),
        (KeyEvent(.character("c")), .fold), (KeyEvent(.character("q")), .leave),
        (KeyEvent(.escape), .escape), (KeyEvent(.character("K")), .kept),
        (KeyEvent(.character("X")), .cancelRun),
        (KeyEvent(.character("n")), .conflict), (KeyEvent(.character(":")), .palette),
        (KeyEvent(.character("x"), .alt), .palette), (KeyEvent(.character("H")), .history),
        (KeyEvent(.character("E")), .explain), (KeyEvent(.character("M")), .message),
        (KeyEvent(.character("L")), .lease), (KeyEvent(.character("P")), .proposals),
        (KeyEvent(.character("o")), .forms),
        (KeyEvent(.character("z"), .control), .suspend),
        (KeyEvent(.character("l"), .control), .redraw),
    ]

    /// What a key does.
    subscript(event: KeyEvent) -> KeyAction? {
        if let action = actions[event] { return action }
        // Some terminals report a capital letter with Shift, others without.
        if case .character = event.key, event.modifiers == .shift {
            return actions[KeyEvent(event.key)]
        }
        return nil
    }

    /// Why a key cannot be given to an action; `nil` if it can.
    static func fixed(_ key: KeyEvent, for action: KeyAction) -> String? {
        guard case .character(let character) = key.key else { return nil }
        if key.modifiers.isEmpty, character.isASCII, character.isNumber {
            return PreferenceWords.choosesAlways
        }
        switch (character, key.modifiers) {
        case ("c", .control): return PreferenceWords.interruptsAlways
        case ("z", .control) where action != .suspend: return PreferenceWords.suspendsAlways
        case ("l", .control) where action != .redraw: return PreferenceWords.redrawsAlways
        default: return nil
        }
    }

    /// Replaces the keys of an action.
    mutating func bind(_ action: KeyAction, to keys: [KeyEvent]) {
        actions = actions.filter { $0.value != action }
        for key in keys { actions[key] = action }
        nameAll()
    }

    /// Parses a key: `u`, `ctrl-r`, `f1`, `space`, `page-up`, normalized to what terminals send.
    ///
    /// Terminals send the same bytes for Ctrl-I and Tab, and a capital for Shift with a letter. A
    /// key that no terminal sends is refused, because its binding would never act.
    static func key(named name: String) -> KeyEvent? {
        guard let key = written(name) else { return nil }
        guard case .character(let character) = key.key else { return key }
        if key.modifiers.contains(.control) {
            let rest = key.modifiers.subtracting(.control)
            switch character.lowercased() {
            case "i": return KeyEvent(.tab, rest)
            case "m": return KeyEvent(.enter, rest)
            case "[": return KeyEvent(.escape, rest)
            case "h": return KeyEvent(.backspace, key.modifiers)
            case let small:
                let isSent =
                    small.utf8.allSatisfy { $0 > 0x60 && $0 < 0x7B } || " \\]^_".contains(small)
                return isSent
                    ? KeyEvent(.character(Character(small)), key.modifiers.subtracting(.shift))
                    : nil
            }
        }
        if key.modifiers.contains(.shift) {
            let capital = character.uppercased()
            guard capital.count == 1, capital != String(character) else { return nil }
            return KeyEvent(.character(Character(capital)), key.modifiers.subtracting(.shift))
        }
        return key
    }

    private static func written(_ name: String) -> KeyEvent? {
        var rest = name[...]
        var modifiers: KeyModifiers = []
        let prefixes: [(String, KeyModifiers)] = [
            ("ctrl-", .control), ("alt-", .alt), ("shift-", .shift),
        ]
        while let (prefix, modifier) = prefixes.first(where: { rest.hasPrefix($0.0) }) {
            rest = rest.dropFirst(prefix.count)
            modifiers.insert(modifier)
        }
        if rest.count == 1, let character = rest.first,
            !character.unicodeScalars.contains(where: SafeText.isHarmful)
        {
            return KeyEvent(.character(character), modifiers)
        }
        let named: [String: Key] = [
            "space": .character(" "), "enter": .enter, "tab": .tab, "esc": .escape,
            "backspace": .backspace, "delete": .delete, "up": .up, "down": .down, "left": .left,
            "right": .right, "home": .home, "end": .end, "page-up": .pageUp,
            "page-down": .pageDown, "insert": .insert,
        ]
        if let key = named[String(rest)] { return KeyEvent(key, modifiers) }
        if rest.first == "f", let number = Int(rest.dropFirst()), (1...24).contains(number) {
            return KeyEvent(.function(number), modifiers)
        }
        return nil
    }
}

extension KeyMap {
    /// The keys of an action as people write them, the standard ones in their order first.
    func names(of action: KeyAction) -> [String] { namesByAction[action] ?? [] }

    private mutating func nameAll() {
        namesByAction = [:]
        var others = actions
        for (key, _) in Self.standard {
            guard let action = others.removeValue(forKey: key) else { continue }
            namesByAction[action, default: []].append(Self.name(key))
        }
        for (action, keys) in Dictionary(grouping: others, by: \.value) {
            namesByAction[action, default: []] += keys.map { Self.name($0.key) }.sorted()
        }
    }

    /// The key that hints show under this name.
    func event(shownAs name: String) -> KeyEvent? {
        let fixed =
            ([Key.enter, .escape, .tab] + "ynarw".map { .character($0) }).map { KeyEvent($0) }
            + [KeyEvent(.character("u"), .control)]
        return (fixed + Self.standard.map(\.0) + actions.keys).first {
            Self.name($0) == name
        }
    }

    /// The first key of an action; `^C`, which always leaves, if it has no key.
    func name(of action: KeyAction) -> String { names(of: action).first ?? "^C" }

    /// A key as the help page shows it.
    static func name(_ event: KeyEvent) -> String {
        let modifiers =
            (event.modifiers.contains(.control) ? "^" : "")
            + (event.modifiers.contains(.alt) ? "Alt-" : "")
        switch event.key {
        case .character(" "): return modifiers + "Space"
        case .character(let character):
            let isControl = event.modifiers.contains(.control)
            return modifiers + (isControl ? character.uppercased() : String(character))
        case .tab: return event.modifiers.contains(.shift) ? "Shift-Tab" : "Tab"
        case .function(let number): return modifiers + "F\(number)"
        case .pageUp: return modifiers + "PgUp"
        case .pageDown: return modifiers + "PgDn"
        case .escape: return modifiers + "Esc"
        case .enter, .backspace, .up, .down, .left, .right, .home, .end, .insert, .delete:
            let word = "\(event.key)"
            return modifiers + word.prefix(1).uppercased() + word.dropFirst()
        }
    }
}
