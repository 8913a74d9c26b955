// The user's preferences for live forms: `~/.config/pickersync/live.yaml`.
//
//     theme: {light: paper, dark: ember}
//     keys: {leave: ctrl-x, undo: [z, u]}
//
// Invariants: a mistake in the file disables only the wrong setting, and is reported with the file,
// the key and the reason; the form is always shown.

internal import FormFile
internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// Theme and keys of a person.
struct Preferences {
    var themes = ThemeChoice.standard
    var keys = KeyMap()
    /// The mistakes in the file, a line for each mistake.
    private(set) var problems: [String] = []
    /// The actions that the file gave keys to, by key.
    private var bound: [KeyEvent: KeyAction] = [:]

    /// The file's path by the XDG Base Directory rules; `nil` if the home folder is unknown.
    static var path: String? {
        if let folder = environmentVariable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return folder + "/pickersync/live.yaml"
        }
        return environmentVariable("HOME").map { $0 + "/.config/pickersync/live.yaml" }
    }

    /// The user's preferences; the defaults if there is no file.
    static func load() -> Preferences {
        guard let path, FileFacts.at(path) != nil else { return Preferences() }
        do throws(FileIssues) {
            let bytes = try FileReading.bytes(ofFile: path)
            return Preferences(try YAMLDocument.parse(bytes, name: path))
        } catch {
            var preferences = Preferences()
            preferences.problems = error.issues.map { "\($0)" }
            return preferences
        }
    }

    init() {}

    /// Parses a file. Reports each mistake and keeps the other settings.
    init(_ file: SourceTree) {
        guard case .object(let members) = file.json else {
            if !file.json.isNull { complain(file, [], PreferenceWords.noMapping) }
            return
        }
        for (name, value) in members.members {
            switch name {
            case "theme": take(theme: value, file)
            case "keys":
                guard case .object(let keys) = value else {
                    complain(file, ["keys"], PreferenceWords.noKeys)
                    continue
                }
                for (action, keys) in keys.members { bind(action, keys, file) }
            default: complain(file, [name], PreferenceWords.noSetting)
            }
        }
    }

    private mutating func complain(
        _ file: SourceTree, _ path: [String], _ mistake: PreferenceWords.Mistake
    ) {
        let steps = path.map { PathStep.key($0) }
        let issue = FileIssue(
            file: file.name, position: file.position(of: steps), path: steps,
            message: mistake.message, expected: mistake.expected)
        problems.append(issue.description)
    }

    private mutating func take(theme json: JSON, _ file: SourceTree) {
        guard case .object(let kinds) = json else {
            if let theme = theme(json, ["theme"], file) { themes = .one(theme) }
            return
        }
        var light = ThemeChoice.standard.theme(isDark: false)
        var dark = ThemeChoice.standard.theme(isDark: true)
        for (kind, value) in kinds.members {
            switch kind {
            case "light": light = theme(value, ["theme", kind], file) ?? light
            case "dark": dark = theme(value, ["theme", kind], file) ?? dark
            default: complain(file, ["theme", kind], PreferenceWords.noBackground)
            }
        }
        themes = .byBackground(light: light, dark: dark)
    }

    private mutating func theme(_ json: JSON, _ path: [String], _ file: SourceTree) -> Theme? {
        if let theme = json.stringValue.flatMap({ Theme.named($0) }) { return theme }
        complain(
            file, path, PreferenceWords.noTheme(json.stringValue, among: Theme.all.map(\.name)))
        return nil
    }

    private mutating func bind(_ name: String, _ json: JSON, _ file: SourceTree) {
        let path = ["keys", name]
        guard let action = KeyAction(rawValue: name) else {
            return complain(
                file, path, PreferenceWords.noAction(among: KeyAction.allCases.map(\.rawValue)))
        }
        var events: [KeyEvent] = []
        for value in json.arrayValue ?? [json] {
            let text = value.numberValue?.description ?? value.stringValue ?? ""
            guard let event = KeyMap.key(named: text) else {
                return complain(file, path, PreferenceWords.notSent(text))
            }
            if let why = KeyMap.fixed(event, for: action) {
                return complain(file, path, PreferenceWords.fixed(text, why))
            }
            if let other = bound[event], other != action {
                return complain(file, path, PreferenceWords.isKey(text, of: other.rawValue))
            }
            events.append(event)
        }
        for event in events { bound[event] = action }
        keys.bind(action, to: events)
    }
}
