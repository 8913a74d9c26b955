import PickerClient
import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

private let form = """
    form: t
    title: Status
    sections:
      - title: First
        fields:
          - {id: on, type: toggle, label: Maintenance mode, default: false}
          - {id: load, type: gauge, label: Load, min: 0, max: 1, default: 0.9, readOnly: true,
             thresholds: [{from: 0.5, tint: yellow}, {from: 0.8, tint: red}]}
          - {id: region, type: picker, style: menu, options: [eu, us, asia, africa, north, south]}
          - {id: city, type: picker, style: navigationLink, options: [rome, oslo, lima]}
          - {id: flavor, type: picker, style: segmented, options: [mint, plum]}
          - {id: token, type: secure, label: Token}
          - {id: start, type: button, label: Start}
          - {id: stop, type: button, label: Stop, role: destructive}
          - {id: deploy, type: button, label: Deploy, runs: queue}
    """

@Suite("what the status line and the pages say")
struct LiveStatusTests {
    private func lines(_ bench: inout LiveBench) -> [String] {
        bench.screen().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The line above the keys.
    private func status(_ bench: inout LiveBench) -> String {
        let lines = lines(&bench)
        return lines.count > 1 ? lines[lines.count - 2] : ""
    }

    @Test(
        "each control is described",
        arguments: [
            ("on", "on or off"), ("load", "read-only · 0 to 1"), ("region", "one of 6 options"),
            ("city", "one of 3 options"), ("flavor", "one of 2 options"),
            ("token", "a secret, which is never shown"),
            ("start", "programs that watch the form see each press"),
            ("stop", "asks before it runs"), ("deploy", "each press goes to a handler"),
        ])
    func described(field: String, words: String) throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.focus(field)
        #expect(status(&bench).contains(words), "\(status(&bench))")
    }

    @Test("a message about a control goes when the control is left")
    func staleMessage() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.focus("load")
        bench.press(.enter)
        #expect(status(&bench).contains("Load is read-only"))
        bench.press(.down)
        #expect(status(&bench).contains("one of 6 options"))
    }

    @Test("a control that is disabled has no keys in the footer, and a text of it no caret")
    func disabledKeys() throws {
        var bench = try LiveBench(
            """
            form: t
            fields:
              - {id: on, type: toggle, default: true}
              - {id: name, type: text, default: abc, enabledWhen: {on: true}}
              - {id: go, type: button, label: Go, enabledWhen: {on: true}}
            """)
        bench.press(.down)
        #expect(bench.screen().contains("^U clear"))
        bench.press(.down)
        #expect(bench.screen().contains("Enter press"))
        bench.changed("on", false)
        #expect(!bench.screen().contains("Enter press"), "\(bench.screen())")
        bench.press(.up)
        #expect(!bench.screen().contains("^U clear"), "\(bench.screen())")
        bench.type("x")
        #expect(bench.model.activeEdit == nil && bench.edits.isEmpty)
        #expect(status(&bench).contains("name is disabled now"), "\(status(&bench))")
    }

    @Test("what somebody sets beside a typed text is whole; that they are here is not worth a cut")
    func heldIsWhole() throws {
        var bench = try LiveBench(example: "deploy", columns: 80, lines: 24)
        bench.changed("version", "1.0.0")
        bench.pass(milliseconds: 61_000)
        bench.focus("version")
        bench.press(.enter)
        bench.type("7")
        bench.bobIs(at: "version")
        bench.changed("version", "2.0.0")
        #expect(bench.screen().contains("◇ 2.0.0  6/20"), "\(bench.screen())")
    }

    @Test("the line of keys keeps what there is space for without the long words of undo")
    func longUndo() throws {
        var bench = try LiveBench(form, columns: 38, lines: 40)
        bench.changed("region", "north", by: LiveBench.me)
        bench.focus("load")
        let keys = lines(&bench).last ?? ""
        #expect(!keys.contains("undo") && keys.contains("↑↓ move"), "\(keys)")
        #expect(keys.contains("/ find"), "\(keys)")
    }

    @Test("undo names a toggle's values as the form does, and never a secret's")
    func undoWords() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.changed("on", true, by: LiveBench.me)
        #expect(bench.screen().contains("u undo off→on"))
        bench.changed("token", .null, by: LiveBench.me, isSecretSet: true)
        #expect(bench.screen().contains("u undo Token"))
    }

    @Test("undo of a control with sources names what changed, and the focus stays at it")
    func undoSources() throws {
        var bench = try LiveBench(
            """
            form: t
            fields:
              - {id: hall, type: toggle, label: Hall, default: true}
              - {id: attic, type: toggle, label: Attic}
              - {id: all, type: toggle, label: All, sources: [hall, attic]}
            """)
        bench.focus("all")
        func change(_ revision: Revision, _ values: [(String, was: JSON, JSON)]) -> StateChanged {
            let author = LiveBench.author(LiveBench.me, "ann")
            return StateChanged(
                form: "t", revision: revision, context: "a.1:\(revision)",
                changes: values.map { field, was, value in
                    let state = FieldState(
                        value: value, revision: revision, isSet: true, by: author, at: nil,
                        conflict: [], isSecretSet: nil)
                    return FieldChange(field: field, state: state, was: was)
                })
        }
        let edit = change(
            50, [("hall", true, true), ("attic", false, true), ("all", .null, true)])
        bench.feed(.client(.changed(edit)))
        #expect(bench.screen().contains("u undo 2 fields"), "\(bench.screen())")
        bench.type("u")
        var writer = JSONWriter()
        let back = change(
            51, [("hall", true, true), ("attic", true, false), ("all", true, .null)])
        SetResult(
            form: "t", revision: 51, context: "a.1:51",
            fields: back.changes.map { NamedField(id: $0.field, state: $0.state) }
        ).encode(into: &writer)
        bench.answer(.result(try JSON(parsing: String(decoding: writer.take(), as: UTF8.self))))
        #expect(status(&bench).contains("undone: Attic off → on, All mixed → on"))
        #expect(bench.model.focusedField == "all")
    }

    @Test("a hint says what the key does: no draft of a secret, a press, a lease")
    func truth() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.focus("token")
        bench.press(.enter)
        #expect(bench.screen().contains("Esc discard"), "\(bench.screen())")
        bench.press(.escape)
        bench.changed("start", 1)
        bench.focus("start")
        #expect(status(&bench).contains("last press: bob"), "\(status(&bench))")
        bench.changed("on", true)
        bench.changed(
            "on", true, by: LiveBench.me,
            lease: FieldLease(
                id: "a.1:1", until: Timestamp(milliseconds: 7_200_000),
                by: LiveBench.author(LiveBench.me, "ann"), then: nil))
        #expect(bench.screen().contains("undo Maintenance mode lease"), "\(bench.screen())")
    }

    @Test("a reset of a field without a default is called what it is")
    func clear() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.changed("token", .null, isSecretSet: true)
        bench.focus("token")
        bench.press(.backspace)
        #expect(status(&bench).contains("Clear Token for everybody?"))
        #expect(bench.screen().contains("Enter clear"))
    }

    @Test("a question fits a narrow screen, with its keys")
    func narrowQuestion() throws {
        var bench = try LiveBench(form, columns: 40, lines: 10)
        bench.changed("region", "us")
        bench.focus("region")
        bench.press(.backspace)
        let last = try #require(lines(&bench).last)
        #expect(last.contains("Enter / Esc") && !last.contains("…"), "\(last)")
    }

    @Test("a message that does not fit a narrow screen is shown without its advice")
    func narrowMessage() throws {
        var bench = try LiveBench(form, columns: 40, lines: 10)
        bench.disconnect()
        bench.focus("region")
        bench.press(.enter, .down, .enter)
        let last = try #require(lines(&bench).last)
        #expect(last.hasSuffix("not sent yet"), "\(last)")
    }

    @Test("the question of a button says what Enter would do")
    func confirm() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.focus("stop")
        bench.press(.enter)
        #expect(status(&bench).contains("Enter cancels; nothing is pressed"))
        bench.press(.left)
        #expect(status(&bench).contains("Enter presses Stop for everybody"))
    }

    @Test("a button that was pressed does not move the one beside it")
    func pressed() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.focus("start")
        let before = try #require(lines(&bench).first { $0.contains("Stop") })
        bench.press(.enter)
        let after = try #require(lines(&bench).first { $0.contains("Stop") })
        #expect(bench.model.pressed != nil)
        #expect(
            Array(after).firstIndex(of: "!") == Array(before).firstIndex(of: "!"),
            "\(before)\n\(after)")
        #expect(after.contains("✓"))
    }

    @Test("the form does not move when the daemon goes away")
    func banner() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        _ = bench.model.draw()
        let window = bench.model.geometry.window
        bench.disconnect()
        #expect(bench.screen().contains("the daemon is away"))
        #expect(bench.model.geometry.window == window)
    }

    @Test("who changed a value, and how long ago, is shown after the flash and then goes")
    func recent() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.changed("on", true)
        #expect(!bench.screen().contains("bob, "))
        bench.pass(milliseconds: 3_000)
        #expect(bench.screen().contains("bob, 2 s"))
        bench.pass(milliseconds: 4_000)
        #expect(bench.screen().contains("bob, 5 s"))
        bench.pass(milliseconds: 60_000)
        #expect(!bench.screen().contains("bob, "))
        // My own change is not somebody else's.
        bench.changed("on", false)
        bench.changed("on", true, by: LiveBench.me)
        bench.pass(milliseconds: 3_000)
        #expect(!bench.screen().contains("bob, "))
    }

    @Test("a change by somebody else causes a few frames, not one per second")
    func recentFrames() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.changed("on", true)
        var ticks = 0
        while let deadline = bench.model.deadline {
            bench.pass(milliseconds: (deadline - bench.now) / 1_000_000)
            ticks += 1
            try #require(ticks < 50)
        }
        #expect(ticks <= 10)
    }

    @Test("people at one control are counted when their names do not fit")
    func crowd() throws {
        var bench = try LiveBench(form, columns: 80, lines: 40)
        let peers = (20..<30).map { number in
            PresenceChanged.Peer(
                connection: number, user: "user\(number)", client: nil, tty: "pts/\(number)",
                focus: "on", draft: nil, isGone: false)
        }
        bench.feed(.client(.presence(PresenceChanged(form: "t", peers: peers))))
        #expect(try #require(lines(&bench).first { $0.contains("Maint") }).contains("● 10 here"))
    }

    @Test("the thresholds of a gauge are at their marks, in the words of its values")
    func thresholds() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        let line = try #require(lines(&bench).first { $0.contains("Load") })
        #expect(line.contains("50 %") && line.contains("90 %  ▲ over 80 %"), "\(line)")
    }

    // MARK: Pages

    @Test("a page that is not about the control in focus says nothing about it")
    func pageWords() throws {
        var bench = try LiveBench(form)
        #expect(status(&bench).contains("on or off"))
        for key in ["w", ":", "/"] {
            bench.type(key)
            #expect(status(&bench).allSatisfy { $0 == " " }, "\(key): \(bench.screen())")
            bench.press(.escape)
        }
    }

    @Test("the list of commands stays inside of the page", arguments: [(100, 30), (40, 10)])
    func palettePage(columns: Int, height: Int) throws {
        var bench = try LiveBench(form, columns: columns, lines: height)
        let before = lines(&bench)
        bench.type(":")
        let after = lines(&bench)
        #expect(after.contains { $0.contains("‹ Commands") })
        #expect(after.last?.contains("Enter do it") == true, "\(after)")
        #expect(after.first == before.first)
        #expect(!after.dropFirst().contains { $0.contains("▌") }, "a bar of the focus")
    }

    @Test("a click on a command is the same as Enter on it")
    func clickedCommand() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.type(":")
        let y = try #require(lines(&bench).firstIndex { $0.contains("Who is here") })
        bench.mouse(.press(.left), 12, y)
        #expect(bench.model.page == .people)
    }

    @Test("a menu is as wide as its input; in a narrow form it covers whole lines")
    func menuWidth() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.focus("region")
        bench.press(.enter)
        let top = try #require(lines(&bench).first { $0.contains("╭") })
        #expect(top.filter { "╭─╮".contains($0) }.count >= 33, "\(top)")
        var narrow = try LiveBench(form, columns: 40, lines: 10)
        narrow.focus("region")
        narrow.press(.enter)
        #expect(try #require(lines(&narrow).first { $0.contains("type to filter") }).hasPrefix("│"))
    }

    @Test("a page slides in, in at most ten frames per second, and not without motion")
    func slide() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.model.around.hasMotion = true
        bench.focus("city")
        bench.press(.enter)
        var places: [Int] = []
        while bench.model.slide != nil {
            let line = try #require(lines(&bench).first { $0.contains("‹ city") })
            places.append(line.distance(from: line.startIndex, to: line.firstIndex(of: "‹")!))
            let deadline = try #require(bench.model.deadline)
            #expect(deadline - bench.now <= 100_000_000)
            bench.pass(milliseconds: 100)
        }
        let end = try #require(lines(&bench).first { $0.contains("‹ city") })
        #expect(end.hasPrefix("    ‹"))
        #expect(places == places.sorted(by: >) && places.first ?? 0 > 50, "\(places)")
        bench.press(.escape)
        bench.model.around.hasMotion = false
        bench.press(.enter)
        #expect(bench.model.slide == nil)
        #expect(bench.screen().contains("\n    ‹ city"))
    }
}
