// What a person keeps about live forms: `~/.config/pickersync/live.yaml`.
//
//     theme: ember
//     keys: {leave: ctrl-x, undo: [z, u]}

internal import FormFile
internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// Theme and keys of a person.
struct Preferences {
    var theme: Theme?
    var keys = KeyMap()
    /// What was wrong with the file, in a line.
    private(set) var problem: String?

    /// The file's path by the XDG Base Directory rules; `nil` where there is no home.
    static var path: String? {
        if let folder = environmentVariable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return folder + "/pickersync/live.yaml"
        }
        return environmentVariable("HOME").map { $0 + "/.config/pickersync/live.yaml" }
    }

    /// The preferences of whoever runs this; none where there is no file.
    static func load() -> Preferences {
        guard let path, FileFacts.at(path) != nil else { return Preferences() }
        do throws(FileIssues) {
            let bytes = try FileReading.bytes(ofFile: path)
            return Preferences(try YAMLDocument.parse(bytes, name: path).json, path)
        } catch {
            var preferences = Preferences()
            preferences.problem = error.issues.first.map { "\($0)" } ?? path
            return preferences
        }
    }

    init() {}

    /// What a file says; the first mistake is told, and the rest holds.
    init(_ json: JSON, _ path: String) {
        guard case .object(let members) = json else {
            if !json.isNull { problem = "\(path): expected theme and keys" }
            return
        }
        for (name, value) in members.members {
            switch name {
            case "theme":
                theme = value.stringValue.flatMap { Theme.named($0) }
                if theme == nil {
                    let names = Theme.all.map(\.name).joined(separator: ", ")
                    complain("\(path): theme: expected one of \(names)")
                }
            case "keys":
                for (action, keys) in value.objectValue?.members ?? [] {
                    bind(action, keys, path)
                }
            default: complain("\(path): nothing is called \(name); there are theme and keys")
            }
        }
    }

    private mutating func complain(_ text: String) { problem = problem ?? text }

    private mutating func bind(_ name: String, _ json: JSON, _ path: String) {
        guard let action = KeyAction(rawValue: name) else {
            let names = KeyAction.allCases.map(\.rawValue).joined(separator: ", ")
            return complain("\(path): keys: no action \(name); there are \(names)")
        }
        var events: [KeyEvent] = []
        for value in json.arrayValue ?? [json] {
            let text = value.numberValue?.description ?? value.stringValue ?? ""
            guard let event = KeyMap.key(named: text) else {
                return complain(
                    "\(path): keys: \(name): no key \"\(text)\"; write u, ctrl-r, f1, space")
            }
            events.append(event)
        }
        keys.bind(action, to: events)
    }
}
