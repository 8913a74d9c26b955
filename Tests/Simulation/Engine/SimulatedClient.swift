// A client that behaves like a real one: it pipelines, keeps the tokens of what it has shown,
// resumes its subscription, and sends again what was not answered. It checks every frame.

import EngineTestKit
import SyncCore

/// A subscription.
struct Watch {
    let globs: [String]?
    let presence: Bool
    var log: String
    /// The newest revision that it was notified of.
    var cursor: Int64
    var fields: [String: FieldState] = [:]
    /// Other clients, and the focus of each.
    var peers: [Int64: String] = [:]

    var matcher: [Glob]? { globs.map { [Glob]($0) } }

    func wants(_ touched: Set<String>?) -> Bool {
        guard let matcher, let touched else { return true }
        return touched.contains(where: matcher.matches)
    }
}

/// An answer that is expected.
enum Due {
    case edit(SentEdit)
    case subscription(StateSubscribe)
    case state([String]?)
    case secret
    case history
    case other(Method)
}

/// One client.
final class SimulatedClient {
    let number: Int
    let uid: UInt32
    let session: String?
    let oracle: Oracle
    var connection: ConnectionID?
    var due: [(id: Int64, what: Due)] = []
    var nextID: Int64 = 1
    /// Edits with keys that were not answered before the connection ended.
    var unsettled: [SentEdit] = []
    var watch: Watch?
    /// The subscription that it resumes when it reconnects.
    var wantsBack: (globs: [String]?, presence: Bool, since: StateSubscribe.Since?)?
    /// What it has shown.
    var shown: (token: String, sight: [Glimpse])?
    /// The token of the answer to its last edit.
    var answered: (token: String, sight: [Glimpse])?
    /// The newest revision of an own edit that was acknowledged.
    var floor: Int64 = 0
    /// The focus that it announced.
    var focus: String?
    /// What it had seen when it sent each pending edit, by number.
    var sights: [Int: [Glimpse]] = [:]
    /// Whether `since` may name revisions that are not kept any more.
    var mayForget = false
    /// Whether the log may change while it is connected, because the store was rebuilt.
    var logMayChange: () -> Bool = { false }
    private var decoder = ServerMessageDecoder()

    init(_ number: Int, uid: UInt32, session: String?, oracle: Oracle) {
        self.number = number
        self.uid = uid
        self.session = session
        self.oracle = oracle
    }

    var owner: Owner { Owner(uid: uid, session: session) }

    /// Its connection has ended.
    func lost() {
        connection = nil
        for (_, what) in due {
            if case .edit(let edit) = what, edit.request.idempotencyKey != nil {
                unsettled.append(edit)
            }
        }
        due = []
        if let watch {
            wantsBack = (
                watch.globs, watch.presence,
                StateSubscribe.Since(log: watch.log, revision: watch.cursor)
            )
        }
        kept = watch?.fields ?? kept
        watch = nil
        focus = nil
    }

    // MARK: - Frames

    /// Takes a frame.
    func take(_ text: String) throws {
        let isReveal = if case .secret? = due.first?.what { true } else { false }
        if !isReveal, text.contains(Oracle.canary) {
            throw Violation("client \(number) got a secret: \(text)")
        }
        guard let messages = try? decoder.decode(Array(text.utf8)) else {
            throw Violation("client \(number) cannot read \(text)")
        }
        for message in messages {
            switch message {
            case .result(let id, let json): try result(id, json, text)
            case .failure(let id, let error): try failure(id, error)
            case .notification(.stateChanged(let params)): try changed(params, text)
            case .notification(.formChanged(let params)): try changed(params, text)
            case .notification(.presenceChanged(let params)):
                for peer in params.peers {
                    watch?.peers[peer.connection] = peer.isGone ? nil : peer.focus ?? ""
                }
            case .notification(.buttonAssigned), .notification(.buttonCancelled),
                .notification(.buttonProgress):
                throw Violation("client \(number) handles no buttons and was told \(text)")
            case .notification(.proposalChanged):
                throw Violation("nobody has proposed anything and \(number) was told \(text)")
            case .notification(.linkDo):
                throw Violation("client \(number) is not a bridge and was told \(text)")
            case .notification(.goodbye): break
            case .unknownNotification(let method): throw Violation("unknown notification \(method)")
            }
        }
    }

    private func next(_ id: RequestID) throws -> Due {
        guard let first = due.first, first.id == id.number else {
            throw Violation(
                "client \(number) got an answer to \(id.rawText) instead of \(due.first?.id ?? 0)")
        }
        return due.removeFirst().what
    }

    private func failure(_ id: RequestID, _ error: WireError) throws {
        let what = try next(id)
        let allowed: [ErrorKind] = [
            .conflict, .unavailable, .invalidValue, .notFound, .disabled, .limit,
        ]
        guard allowed.contains(error.kind) else {
            throw Violation("client \(number) got an error: \(error.kind): \(error.message)")
        }
        guard case .edit(let edit) = what else {
            if error.kind == .unavailable || error.kind == .notFound { return }
            throw Violation("client \(number) cannot read: \(error.message)")
        }
        try oracle.refused(edit, error)
        if error.kind == .unavailable, edit.request.idempotencyKey != nil { unsettled.append(edit) }
    }

    private func result(_ id: RequestID, _ json: JSON, _ text: String) throws {
        let what = try next(id)
        func decoded<T>(_ decode: () throws -> T) throws -> T {
            do { return try decode() } catch { throw Violation("\(error): \(text)") }
        }
        switch what {
        case .edit(let edit):
            guard edit.request.method != .formApply, edit.request.method != .formSetOptions else {
                edit.isAnswered = true
                return
            }
            let result = try decoded { try SetResult(decoding: json) }
            try oracle.answered(edit, result)
            floor = max(floor, result.revision)
            answered = (result.context, (sights[edit.number] ?? []) + [.request(edit.number)])
        case .subscription(let params):
            try subscribed(params, try decoded { try SubscribeResult(decoding: json) })
        case .state(let globs):
            let snapshot = try decoded { try StateSnapshot(decoding: json) }
            try sawLog(snapshot.log)
            guard snapshot.revision >= floor else {
                throw Violation(
                    "client \(number) read revision \(snapshot.revision) after its own edit made \(floor)"
                )
            }
            try oracle.when(snapshot.revision) { [oracle, number] in
                try oracle.compare(
                    snapshot.fields, at: snapshot.revision, globs.map { [Glob]($0) },
                    "the state that client \(number) read")
            }
            if watch == nil { show(snapshot.context, snapshot.revision) }
        case .secret:
            guard case .secret(let secret)? = oracle.form.contents["pin"] else { return }
            let value = try decoded { try RevealResult(decoding: json) }.value
            if value.stringValue != secret {
                throw Violation("the secret is \(value), not \(secret ?? "unset")")
            }
        case .history: try history(try decoded { try HistoryPage(decoding: json) })
        case .other(.stateUnsubscribe):
            watch = nil
            focus = nil
        case .other: break
        }
    }

    private func show(_ token: String, _ revision: Int64) {
        shown = (token, [.upTo(line: oracle.line, revision: revision), .token(token)])
    }

    private func sawLog(_ log: String) throws {
        if let known = oracle.log, known != log, !logMayChange() {
            throw Violation("the log is \(log), and was \(known)")
        }
        oracle.log = log
    }

    private func history(_ page: HistoryPage) throws {
        guard oracle.durability == .commit, !mayForget else { return }
        let told = page.entries.map(\.revision)
        let wanted = Array((1...oracle.revision).reversed())
        guard told == wanted else {
            throw Violation("the history has \(told), not \(wanted)")
        }
    }

    private func subscribed(_ params: StateSubscribe, _ result: SubscribeResult) throws {
        try sawLog(result.log)
        var watch = Watch(
            globs: params.fields, presence: params.presence, log: result.log,
            cursor: result.revision)
        if result.isResumed {
            guard let since = params.since, since.log == result.log else {
                throw Violation("client \(number) resumed in a log that it did not name")
            }
            watch.cursor = since.revision
            watch.fields = kept ?? [:]
        } else {
            if let since = params.since, since.log == result.log, !mayForget,
                since.revision <= result.revision
            {
                throw Violation("client \(number) was not resumed at \(since.revision)")
            }
            let fields = result.fields ?? []
            for field in fields { watch.fields[field.id] = field.state }
            let globs = watch.matcher
            try oracle.when(result.revision) { [oracle, number] in
                try oracle.compare(
                    fields, at: result.revision, globs, "the snapshot of client \(number)")
            }
        }
        if oracle.durability == .commit, result.revision < oracle.revision - 10_000 {
            throw Violation("revisions are missing")
        }
        show(result.context, result.revision)
        self.watch = watch
        focus = nil
        wantsBack = nil
        kept = nil
    }

    /// What it shows while it is not connected.
    var kept: [String: FieldState]?

    // MARK: - Changes

    private func changed(_ params: StateChanged, _ text: String) throws {
        try changed(params.revision, params.coalescedFrom, params.changes, nil, text)
        show(params.context, params.revision)
    }

    private func changed(_ params: FormChanged, _ text: String) throws {
        guard case .defined(let content) = params.content else {
            throw Violation("the form was not deleted: \(text)")
        }
        try changed(
            params.revision, content.coalescedFrom, content.changes, content.definition, text)
        if let context = content.context { show(context, params.revision) }
    }

    private func changed(
        _ revision: Int64, _ from: Int64?, _ changes: [FieldChange], _ definition: JSON?,
        _ text: String
    ) throws {
        guard var watch else {
            throw Violation("client \(number) has no subscription and got \(text)")
        }
        let first = from ?? revision
        let isInOrder = watch.globs == nil ? first == watch.cursor + 1 : first > watch.cursor
        guard isInOrder, revision >= first else {
            throw Violation(
                "client \(number) is at \(watch.cursor) and was notified of \(first)...\(revision)")
        }
        try mustNotTouch(watch, watch.cursor + 1, first)
        if from == nil {
            try oracle.when(revision) { [oracle, number, watch] in
                guard oracle.frames[Int(revision)] == text else {
                    throw Violation(
                        "client \(number) got revision \(revision) in other bytes: \(text), "
                            + "not \(oracle.frames[Int(revision)] ?? "nothing")")
                }
                guard watch.wants(oracle.touched[Int(revision)]) else {
                    throw Violation("client \(number) did not ask for revision \(revision)")
                }
            }
        }
        watch.cursor = revision
        for change in changes where watch.matcher?.matches(change.field) ?? true {
            watch.fields[change.field] = change.state
        }
        if let definition {
            let ids = (definition["fields"]?.arrayValue ?? []).compactMap { $0["id"]?.stringValue }
            watch.fields = watch.fields.filter { ids.contains($0.key) }
        }
        self.watch = watch
        if from != nil { try oracle.when(revision) { [weak self] in try self?.checkWhole(watch) } }
    }

    private func mustNotTouch(_ watch: Watch, _ from: Int64, _ to: Int64) throws {
        guard from < to else { return }
        try oracle.when(to - 1) { [oracle, number] in
            for revision in from..<to where watch.wants(oracle.touched[Int(revision)]) {
                throw Violation("client \(number) was not notified of revision \(revision)")
            }
        }
    }

    /// What it shows is the form at that revision.
    func checkWhole(_ watch: Watch) throws {
        let form = oracle.forms[Int(watch.cursor)]
        for control in form.controls where watch.matcher?.matches(control.id) ?? true {
            guard var told = watch.fields[control.id] else {
                throw Violation("client \(number) was never notified of \(control.id)")
            }
            // A conflict that was notified once is shown until the next change.
            if control.policy != "ask" { told.conflict = [] }
            try oracle.compare(
                told, form.reading(control.id), control.id, form,
                "the copy of client \(number) at \(watch.cursor)")
        }
    }

    /// When nothing is pending, a subscriber shows the newest revision.
    func checkAtRest() throws {
        guard due.isEmpty else {
            throw Violation("client \(number) still waits for \(due.count) answers: \(due[0].what)")
        }
        guard var watch else { return }
        if watch.globs == nil, watch.cursor != oracle.revision {
            throw Violation("client \(number) has revision \(watch.cursor) of \(oracle.revision)")
        }
        try mustNotTouch(watch, watch.cursor + 1, oracle.revision + 1)
        watch.cursor = oracle.revision
        try checkWhole(watch)
    }
}
