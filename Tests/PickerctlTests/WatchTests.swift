import SyncCore
import Testing

@testable import pickerctl

private func change(
    _ field: String, _ value: JSON, _ revision: Int64, was: JSON? = nil
) -> WatchedChange {
    WatchedChange(
        form: "f", field: field,
        state: FieldState(value: value, revision: revision, isSet: true), was: was,
        revision: revision, coalescedFrom: nil)
}

@Suite struct DebouncerTests {
    @Test("without a span every change goes straight through")
    func none() {
        var debouncer = Debouncer(span: 0)
        #expect(debouncer.offer(change("a", 1, 1), at: 5).count == 1)
        #expect(debouncer.deadline == nil)
    }

    @Test("changes of a field fold, and wait until it has been quiet for the whole span")
    func folds() {
        var debouncer = Debouncer(span: 10)
        #expect(debouncer.offer(change("a", 1, 1, was: 0), at: 100).isEmpty)
        #expect(debouncer.offer(change("b", 5, 2), at: 105).isEmpty)
        #expect(debouncer.offer(change("a", 2, 3, was: 1), at: 108).isEmpty)
        #expect(debouncer.deadline == 118)
        #expect(debouncer.due(at: 117).isEmpty)
        let due = debouncer.due(at: 118)
        #expect(due.map(\.field) == ["b", "a"])
        #expect(due[1].state.value == 2)
        #expect(due[1].was == 0)
        #expect(due[1].coalescedFrom == 1)
        #expect(due[0].coalescedFrom == nil)
        #expect(debouncer.deadline == nil)
        #expect(debouncer.due(at: 500).isEmpty)
    }
}

@Suite struct ExecQueueTests {
    @Test("one at a time, in order, none left out")
    func inOrder() {
        var queue = ExecQueue(keepsLatest: false)
        #expect(queue.offer(change("a", 1, 1))?.revision == 1)
        #expect(queue.offer(change("a", 2, 2)) == nil)
        #expect(queue.offer(change("a", 3, 3)) == nil)
        #expect(queue.ended()?.revision == 2)
        #expect(queue.ended()?.revision == 3)
        #expect(queue.ended() == nil)
        #expect(queue.isIdle)
        #expect(queue.offer(change("a", 4, 4))?.revision == 4)
    }

    @Test("the latest of each field alone waits, and says from which revision on it was folded")
    func latest() {
        var queue = ExecQueue(keepsLatest: true)
        _ = queue.offer(change("a", 1, 1))
        _ = queue.offer(change("a", 2, 2, was: 1))
        _ = queue.offer(change("b", 9, 3))
        _ = queue.offer(change("a", 4, 4, was: 2))
        #expect(queue.ended()?.field == "b")
        let second = queue.ended()
        #expect(second?.state.value == 4)
        #expect(second?.was == 1)
        #expect(second?.coalescedFrom == 2)
        #expect(queue.ended() == nil)
    }

    @Test("a queue says when it is full, so that the daemon folds what is not taken")
    func full() {
        var queue = ExecQueue(keepsLatest: false)
        for revision in 0...Int64(ExecQueue.waitingMax) {
            #expect(!queue.isFull)
            _ = queue.offer(change("a", 1, revision))
        }
        #expect(queue.isFull)
    }
}

@Suite struct WatchedChangeTests {
    private static let alice = WireAuthor(
        user: "alice", uid: 1, client: nil, tty: nil, connection: 1, replica: "r")

    @Test("a line says what, what it was, who and when in the form's history")
    func text() {
        var vanilla = change("flavor", "vanilla", 12, was: "chocolate")
        vanilla.state.by = Self.alice
        #expect(vanilla.text == "flavor=vanilla (was chocolate) by alice, revision 12")
        vanilla.coalescedFrom = 9
        vanilla.state.conflict = [Sibling(value: "mint", by: Self.alice, at: nil)]
        #expect(
            vanilla.text
                == "flavor=vanilla (was chocolate) by alice, revision 12 (since 9); "
                + "conflict with mint by alice")
    }

    @Test("a press, a secret and nothing at all read as what they are")
    func special() {
        #expect(change("go", ["presses": 3], 4).text == "go pressed (3), revision 4")
        var secret = change("key", .null, 5)
        secret.state.isSecretSet = true
        #expect(secret.text == "key set (secret), revision 5")
        #expect(change("size", .null, 6, was: 2).text == "size= (was 2), revision 6")
    }

    @Test("JSON has form, field, the members of a Field, was and coalesced")
    func json() throws {
        var vanilla = change("flavor", "vanilla", 12, was: "chocolate")
        vanilla.coalescedFrom = 9
        let json = try JSON(parsing: vanilla.json)
        #expect(json["form"] == "f")
        #expect(json["field"] == "flavor")
        #expect(json["value"] == "vanilla")
        #expect(json["was"] == "chocolate")
        #expect(json["revision"] == 12)
        #expect(json["coalesced"]?["from"] == 9)
    }

    @Test("a child's environment has every variable, and no secret")
    func environment() {
        var secret = change("key", "hidden", 5)
        secret.state.isSecretSet = true
        let variables = secret.environment
        #expect(
            variables.map(\.name) == [
                "PICKER_FORM", "PICKER_FIELD", "PICKER_VALUE", "PICKER_WAS", "PICKER_USER",
                "PICKER_REVISION", "PICKER_COALESCED",
            ])
        #expect(!variables.contains { $0.value == "hidden" })
    }
}

@Suite struct CommandLineTests {
    @Test("common options may precede the command")
    func hoisted() {
        #expect(
            PickerctlCommand.hoisted(["--form", "f", "-q", "set", "a=1"])
                == ["set", "--form", "f", "-q", "a=1"])
        #expect(
            PickerctlCommand.hoisted(["--socket=/x", "form", "list"])
                == ["form", "list", "--socket=/x"])
        #expect(PickerctlCommand.hoisted(["set", "a=1"]) == ["set", "a=1"])
        #expect(PickerctlCommand.hoisted(["--version"]) == ["--version"])
        #expect(PickerctlCommand.hoisted(["--form"]) == ["--form"])
    }

    @Test("colours follow the option, then NO_COLOR, then CLICOLOR_FORCE, then the terminal")
    func colors() {
        func wants(
            _ option: Console.Color, _ isTerminal: Bool, no: Bool = false, forced: Bool = false,
            dumb: Bool = false
        ) -> Bool {
            Console.wantsColor(
                option, isTerminal: isTerminal, noColor: no, forced: forced, isDumb: dumb)
        }
        #expect(wants(.always, false, no: true))
        #expect(!wants(.never, true, forced: true))
        #expect(wants(.auto, true))
        #expect(!wants(.auto, false))
        #expect(!wants(.auto, true, no: true, forced: true))
        #expect(wants(.auto, false, forced: true))
        #expect(!wants(.auto, true, dumb: true))
    }

    @Test("columns line up by what a terminal shows")
    func table() {
        var table = Table(["FIELD", "VALUE"])
        table.append(["日本", "x"])
        table.append(["a\u{1B}[31m", "y"])
        #expect(table.lines == ["FIELD        VALUE", "日本         x", "a\\u{1B}[31m  y"])
    }
}
