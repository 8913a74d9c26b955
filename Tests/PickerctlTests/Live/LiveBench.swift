import FormFile
import Foundation
import SyncCore
import TerminalUI
import TestKit

@testable import PickerClient
@testable import pickerctl

/// A live form without a terminal and without a daemon: keys in, requests out, and what a daemon
/// would say put in by hand.
struct LiveBench {
    var model: LiveModel
    /// Requests that were sent and not answered, in order.
    var sent: [(number: Int, request: Request)] = []
    var told: [PresenceUpdate] = []
    var ending: ExitStatus?
    /// Texts that were given to `$EDITOR`.
    var edited: [String] = []
    var isAwaiting = false
    var rejoined = 0
    var now: UInt64 = 1_000_000_000
    private var revision: Revision = 1
    private var decoder = KeyDecoder()

    static let me: Int64 = 5
    static let bob: Int64 = 9

    init(
        _ yaml: String, columns: Int = 80, lines: Int = 24, mode: LiveModel.Mode = .form,
        keys: KeyMap = KeyMap()
    ) throws {
        let definition = try FormFile.load(Array(yaml.utf8), name: "test").get().0
        try self.init(definition, columns: columns, lines: lines, mode: mode, keys: keys)
    }

    init(example: String, columns: Int, lines: Int) throws {
        let path = sourceTree.appending(path: "Examples/forms/\(example).yaml").path
        try self.init(
            try FormFile.load(path: path).get().0, columns: columns, lines: lines, mode: .form,
            keys: KeyMap())
    }

    private init(
        _ definition: FormDefinition, columns: Int, lines: Int, mode: LiveModel.Mode, keys: KeyMap
    ) throws {
        var around = LiveModel.Surroundings(compile: RegularExpression.compiler)
        around.keys = keys
        around.today = CivilDate(year: 2026, month: 11, day: 21)
        around.localTime = { String($0.description.dropFirst(11).prefix(8)) }
        model = LiveModel(
            FormPresentation(definition), around, mode: mode,
            size: Size(columns: columns, lines: lines))
        connect()
        sent = []
    }

    // MARK: The person

    /// Keys as a terminal sends them.
    mutating func type(_ bytes: String) {
        let events = decoder.decode(Array(bytes.utf8)) + decoder.timeout()
        for event in events { feed(.input(event)) }
    }

    mutating func press(_ keys: Key...) {
        for key in keys { feed(.input(.key(KeyEvent(key)))) }
    }

    mutating func press(_ key: Key, _ modifiers: KeyModifiers) {
        feed(.input(.key(KeyEvent(key, modifiers))))
    }

    mutating func mouse(_ kind: MouseEvent.Kind, _ x: Int, _ y: Int) {
        _ = model.draw()
        feed(.input(.mouse(MouseEvent(kind, at: Point(x: x, y: y)))))
    }

    /// Time goes by.
    mutating func pass(milliseconds: UInt64) {
        now += milliseconds * 1_000_000
        feed(.tick)
    }

    mutating func focus(_ field: String) { model.moveFocus(to: .control(field)) }

    mutating func feed(_ event: LiveEvent) {
        for command in model.handle(event, at: now) {
            switch command {
            case .request(let number, let request): sent.append((number, request))
            case .presence(let update): told.append(update)
            case .quit(let status): ending = ending ?? status
            case .edit(_, let text): edited.append(text)
            case .awaitForm: isAwaiting = true
            case .rejoin: rejoined += 1
            case .suspend, .redraw: break
            }
        }
    }

    // MARK: The daemon

    mutating func connect(replica: String = "a") {
        feed(
            .client(
                .greeted(
                    HelloResult(
                        server: "t", replica: replica, features: [],
                        you: .init(connection: Self.me, uid: 1, gid: 1, pid: 1, user: "ann"),
                        limits: []))))
        let result = SubscribeResult(
            form: model.presentation.form, log: "l", revision: revision,
            context: "\(replica).1:\(revision)",
            isResumed: false, fields: [])
        feed(.client(.snapshot(result, previous: [])))
    }

    mutating func disconnect() { feed(.client(.disconnected(retryAt: now))) }

    static func author(_ connection: Int64, _ user: String) -> WireAuthor {
        WireAuthor(
            user: user, uid: 1, client: nil, tty: "pts/\(connection)", connection: connection,
            replica: "a")
    }

    /// Somebody set a field.
    mutating func changed(
        _ field: String, _ value: JSON, by connection: Int64 = LiveBench.bob,
        conflict: [Sibling] = [], isSecretSet: Bool? = nil, lease: FieldLease? = nil,
        runs: ButtonRuns? = nil
    ) {
        revision += 1
        let user = connection == Self.me ? "ann" : "bob"
        let was =
            model.presentation.state(field)?.value
            ?? model.presentation.index(field).map {
                model.presentation.definition.controls[$0].defaultValue
            }
        var state = FieldState(
            value: value, revision: revision, isSet: true, by: Self.author(connection, user),
            at: Timestamp("2026-11-21T14:02:11.000Z"), conflict: conflict,
            isSecretSet: isSecretSet)
        state.lease = lease
        state.runs = runs
        feed(
            .client(
                .changed(
                    StateChanged(
                        form: model.presentation.form, revision: revision,
                        context: "a.1:\(revision)",
                        changes: [FieldChange(field: field, state: state, was: was)]))))
    }

    /// The daemon does what was asked first.
    mutating func answer(_ outcome: RequestOutcome? = nil) {
        guard !sent.isEmpty else { return }
        let (number, request) = sent.removeFirst()
        if let outcome { return feed(.answered([number], outcome)) }
        var fields: [NamedField] = []
        if case .stateSet(let edit) = request {
            for change in edit.changes {
                if case .value(let value) = change.action {
                    changed(change.field, value, by: Self.me)
                }
                if let state = model.presentation.state(change.field) {
                    fields.append(NamedField(id: change.field, state: state))
                }
            }
        }
        var writer = JSONWriter()
        SetResult(
            form: model.presentation.form, revision: revision, context: "a.1:\(revision)",
            fields: fields
        ).encode(into: &writer)
        let json = try? JSON(parsing: String(decoding: writer.take(), as: UTF8.self))
        feed(.answered([number], .result(json ?? .null)))
    }

    /// Another definition of the form, as the daemon tells of it.
    static func defined(_ yaml: String) throws -> LiveEvent {
        let definition = try FormFile.load(Array(yaml.utf8), name: "test").get().0
        let content = FormChanged.Definition(
            version: 2, context: "a.1:9", definition: definition.json, changes: [])
        return .client(
            .formChanged(
                FormChanged(form: definition.name, revision: 9, content: .defined(content))))
    }

    mutating func bobIs(at field: String?, draft: JSON? = nil, isGone: Bool = false) {
        let peer = PresenceChanged.Peer(
            connection: Self.bob, user: "bob", client: nil, tty: "pts/9", focus: field,
            draft: draft, isGone: isGone)
        feed(.client(.presence(PresenceChanged(form: model.presentation.form, peers: [peer]))))
    }

    // MARK: What is seen

    /// The changes of all requests that wait, as `field=action`.
    var edits: [Change] {
        sent.flatMap { request -> [Change] in
            if case .stateSet(let edit) = request.request { return edit.changes }
            return []
        }
    }

    /// The screen without its styles.
    mutating func screen() -> String {
        let canvas = model.draw()
        return (0..<canvas.buffer.lines).map { line in
            var text = canvas.buffer.text(ofLine: line)
            while text.last == " " { text.removeLast() }
            return text
        }.joined(separator: "\n")
    }

    func value(_ field: String) -> JSON {
        model.presentation.index(field).map { model.shown($0).value } ?? .null
    }
}
