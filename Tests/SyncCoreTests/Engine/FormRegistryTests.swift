import Testing

@testable import SyncCore

/// The machine that knows the forms by name, alone.
@Suite struct FormRegistryTests {
    private func form(_ key: FormKey, _ name: String, control: String = "text") throws -> LiveForm {
        let text = #"{"form":"\#(name)","fields":[{"id":"a","type":"\#(control)"}]}"#
        let json = try JSON(parsing: Array(text.utf8))
        let definition = try FormDefinition.parse(
            json, limits: FormLimits(),
            compile: { _ in .success(PatternMatcher { _ in true }) })
        return LiveForm(
            key: key, name: name, owner: 1, log: "l",
            state: FormState(definition, applied: json), existence: .there)
    }

    @Test("the newer of two forms has the name, and the older one gets it back")
    func names() throws {
        var registry = FormRegistry()
        let (old, new) = (try form(1, "f"), try form(2, "f"))
        registry.insert(old)
        #expect(registry.look(up: "f") === old && registry.look(up: "g") == nil)
        registry.insert(new)
        #expect(registry.look(up: "f") === new)
        #expect(registry.inOrder.map(\.key) == [1, 2])
        registry.remove(new)
        #expect(registry.look(up: "f") === old)
        registry.remove(old)
        #expect(registry.look(up: "f") == nil && registry.inOrder.isEmpty)
    }

    @Test("a key is never given twice, even after the newest form is gone")
    func keys() throws {
        var registry = FormRegistry()
        #expect(registry.nextKey == 1)
        let form = try form(7, "f")
        registry.insert(form)
        #expect(registry.nextKey == 8)
        registry.remove(form)
        #expect(registry.nextKey == 8)
    }

    @Test("the first secure control is noticed, once")
    func secrets() throws {
        var registry = FormRegistry()
        let plain = try form(1, "f").working.definition
        let secret = try form(2, "g", control: "secure").working.definition
        #expect(!registry.noteSecrets(in: plain) && !registry.keepsSecrets)
        #expect(registry.noteSecrets(in: secret) && registry.keepsSecrets)
        #expect(registry.noteSecrets(in: secret) == false)
    }

    @Test("a watcher has output until it has read what was listed")
    func watchers() throws {
        var registry = FormRegistry()
        let connection = Connection(
            ConnectionID(1), peer: Peer(pid: 1, uid: 7, gid: 7, user: "u"),
            account: Account(uid: 7), frameBytesMax: 1024)
        registry.catalog.watch(connection)
        registry.catalog.watch(connection)
        #expect(registry.catalog.watchers.count == 1)
        #expect(!registry.catalog.hasOutput(for: connection))
        let definition = try form(1, "f").working.definition
        let readers = FormReaders(rule: definition.access.read, owner: 1)
        registry.catalog.append([1, 2, 3], readers: readers, bytesMax: 100)
        #expect(registry.catalog.hasOutput(for: connection))
        connection.catalogCursor = registry.catalog.next
        #expect(!registry.catalog.hasOutput(for: connection))
        registry.catalog.unwatch(connection)
        #expect(registry.catalog.watchers.isEmpty && connection.catalogCursor == nil)
    }
}
