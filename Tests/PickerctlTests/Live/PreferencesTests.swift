import FormFile
import Foundation
import SyncCore
import TerminalUI
import TestKit
import Testing

@testable import pickerctl

private func preferences(_ yaml: String) throws -> Preferences {
    Preferences(try YAMLDocument.parse(Array(yaml.utf8), name: "live.yaml"))
}

@Suite("themes and keys of one's own")
struct PreferencesTests {
    private var document: String {
        get throws {
            return try String(
                contentsOf: sourceTree.appending(path: "docs/live-form.md"), encoding: .utf8)
        }
    }

    @Test("the example of the documentation works unchanged")
    func example() throws {
        let text = try document
        let begin = try #require(text.range(of: "```yaml\n"))
        let end = try #require(text.range(of: "```\n", range: begin.upperBound..<text.endIndex))
        let preferences = try preferences(String(text[begin.upperBound..<end.lowerBound]))
        #expect(preferences.problems.isEmpty)
        #expect(preferences.themes.theme(isDark: true).name == "ember")
        #expect(preferences.themes.theme(isDark: false).name == "meadow")
        let keys = preferences.keys
        #expect(keys.names(of: .leave) == ["Q", "^X"] && keys.names(of: .undo) == ["z"])
        #expect(keys.names(of: .help) == ["?", "F1"] && keys.names(of: .people) == ["Alt-w"])
        #expect(keys[KeyEvent(.character("u"))] == nil && keys[KeyEvent(.character("q"))] == nil)
        #expect(keys[KeyEvent(.character("k"))] == .up)
    }

    @Test("the documentation names every theme and every action")
    func complete() throws {
        let text = try document
        for theme in Theme.all { #expect(text.contains("| `\(theme.name)` |"), "\(theme.name)") }
        for action in KeyAction.allCases {
            #expect(text.contains("`\(action.rawValue)`"), "\(action.rawValue)")
        }
    }

    /// A file, what is told of it, and the actions' keys that hold all the same.
    private static let mistakes: [(String, String)] = [
        ("- 1", "live.yaml:1:1: not a mapping; expected theme and keys"),
        ("colour: red", "live.yaml:1:9: colour: no such setting; expected theme or keys"),
        (
            "theme: neon",
            #"live.yaml:1:8: theme: no theme "neon"; choose harbor, paper, "#
        ),
        ("theme: 3", "live.yaml:1:8: theme: not a name; choose harbor"),
        (
            "theme:\n  dim: ember",
            "live.yaml:2:8: theme.dim: no such background; expected light or dark"
        ),
        ("theme: {dark: x}", #"live.yaml:1:15: theme.dark: no theme "x"; choose"#),
        ("keys: [u]", "live.yaml:1:7: keys: not a mapping; expected an action and its keys"),
        (
            "keys:\n  fly: u",
            "live.yaml:2:8: keys.fly: no such action; choose up, down, left, right"
        ),
        (
            "keys: {undo: ctr-u}",
            #"live.yaml:1:14: keys.undo: no terminal sends "ctr-u"; expected a key such as u, ctrl-r"#
        ),
        ("keys: {undo: [z, '']}", #"live.yaml:1:14: keys.undo: no terminal sends """#),
        ("keys: {undo: ctrl-1}", #"keys.undo: no terminal sends "ctrl-1""#),
        ("keys: {undo: 5}", #"keys.undo: "5" always chooses an option or types a number"#),
        ("keys: {undo: ctrl-c}", #"keys.undo: "ctrl-c" always interrupts; expected another key"#),
        ("keys: {undo: ctrl-Z}", #"keys.undo: "ctrl-Z" always suspends"#),
        (
            "keys: {undo: z, redo: [y, z]}",
            #"keys.redo: "z" is the key of undo already; expected another key"#
        ),
        ("keys: {undo: \"\\u001b\"}", "keys.undo: "),
    ]

    @Test("a mistake is told with file, place, key and reason", arguments: mistakes.indices)
    func told(index: Int) throws {
        let (yaml, expected) = Self.mistakes[index]
        let problem = try #require(try preferences(yaml).problems.first)
        #expect(problem.contains(expected), "\(problem)")
        #expect(!problem.contains("\n") && !problem.contains("\u{1B}"))
    }

    @Test("a mistake costs what it is about and nothing else")
    func rest() throws {
        let preferences = try preferences(
            "theme: neon\nkeys: {undo: 5, redo: y, leave: Q}\n")
        #expect(preferences.problems.contains { $0.contains("neon") })
        #expect(preferences.themes == .standard)
        #expect(preferences.keys.names(of: .undo) == ["u"])
        #expect(preferences.keys.names(of: .redo) == ["y"])
        #expect(preferences.keys.names(of: .leave) == ["Q"])
        #expect(try self.empty().problems.isEmpty)
    }

    private func empty() throws -> Preferences { try preferences("") }

    @Test(
        "a key is what a terminal sends for it",
        arguments: [
            ("u", KeyEvent(.character("u"))), ("U", KeyEvent(.character("U"))),
            ("shift-u", KeyEvent(.character("U"))), ("ctrl-R", KeyEvent(.character("r"), .control)),
            ("ctrl-i", KeyEvent(.tab)), ("ctrl-m", KeyEvent(.enter)),
            ("ctrl-[", KeyEvent(.escape)), ("ctrl-h", KeyEvent(.backspace, .control)),
            ("ctrl-space", KeyEvent(.character(" "), .control)),
            ("alt-x", KeyEvent(.character("x"), .alt)), ("shift-tab", KeyEvent(.tab, .shift)),
            ("ctrl-left", KeyEvent(.left, .control)), ("f12", KeyEvent(.function(12))),
            ("é", KeyEvent(.character("é"))), ("space", KeyEvent(.character(" "))),
            ("ctrl-\\", KeyEvent(.character("\\"), .control)),
        ])
    func named(name: String, expected: KeyEvent) throws {
        #expect(KeyMap.key(named: name) == expected)
    }

    @Test(
        "what no terminal sends is not a key",
        arguments: ["", "f0", "f25", "shift-1", "ctrl-é", "x1"])
    func unsent(name: String) { #expect(KeyMap.key(named: name) == nil) }

    @Test("the background chooses among the two themes, and one that was asked for stays")
    func background() throws {
        var bench = try LiveBench("form: t\nfields: [{id: a, type: toggle}]")
        bench.model.around.themes = try preferences("theme: {dark: ember}").themes
        func shown() -> String { bench.model.around.environment.theme.name }
        bench.feed(.input(.reply(.background(red: 20, green: 20, blue: 30))))
        #expect(shown() == "ember")
        bench.feed(.input(.reply(.background(red: 250, green: 250, blue: 240))))
        #expect(shown() == "paper")
        bench.model.around.choosesTheme = false
        bench.feed(.input(.reply(.background(red: 0, green: 0, blue: 0))))
        #expect(shown() == "paper")
        #expect(ThemeChoice.one(.meadow).theme(isDark: nil) == .meadow)
        #expect(ThemeChoice.standard.theme(isDark: nil) == .terminal)
    }

    @Test("hints and messages name the keys as they are bound")
    func hints() throws {
        let keys = try preferences("keys: {leave: ctrl-x, undo: z, people: []}").keys
        var bench = try LiveBench(
            "form: t\nfields: [{id: note, type: text}, {id: a, type: toggle}]", keys: keys)
        bench.changed("a", true, by: LiveBench.me)
        let hints = bench.screen().split(separator: "\n").last ?? ""
        #expect(hints.contains("^X quit") && hints.contains("z undo") && !hints.contains("w who"))
        bench.type("ihello")
        bench.type("\u{1B}")
        bench.type("\u{18}")
        #expect(bench.screen().contains("^X again quits without it"))
    }

    @Test("the help of the focused control is read whole on the smallest screen")
    func help() throws {
        var bench = try LiveBench(
            """
            form: t
            help: What the form is for.
            fields:
              - {id: a, type: toggle, label: Kitchen, help: "Turns the lamp above the table on, and nothing else at all."}
            """, columns: 40, lines: 10)
        bench.type("?")
        let screen = bench.screen()
        #expect(screen.contains("Kitchen") && screen.contains("and nothing else at all."))
        #expect(screen.contains("What the form is for."))
    }
}
