// One run of a command: its settings, console and connection, and cached information about the
// form.

internal import Glibc
internal import PickerClient
internal import SyncCore

/// A run of a command.
final class Session {
    let settings: Settings
    let console: Console
    let client: BlockingClient
    private var knownForms: [String]?
    /// Whether the command line names the form, as `FORM/FIELD` or with `--form`. Commands in texts
    /// name it then, too.
    private var isFormNamed = false

    /// Seconds for answers that the shortest `--timeout` leaves: a condition that holds already is
    /// found.
    private static let answerSecondsMin = 1.0

    init(_ settings: Settings) {
        self.settings = settings
        console = Console(color: settings.color, isQuiet: settings.isQuiet)
        client = BlockingClient(Self.options(settings))
    }

    /// The terminal that the daemon is told.
    var terminal: String? { Self.terminal(isRemote: client.resolution.host != nil) }

    /// The daemon's host, where forms are shared with others; `nil` before its first answer.
    var host: String? { client.greeting?.host }

    /// How to find the daemon.
    static func options(_ settings: Settings) -> BlockingClient.Options {
        var options = BlockingClient.Options(client: "pickerctl/\(Version.current)")
        options.socket = settings.socket
        options.host = (settings.host ?? environmentVariable("PICKERSYNC_HOST")).map {
            RemoteHost($0, socket: settings.socket, autostart: settings.autostart)
        }
        options.autostart = settings.autostart
        options.connectSeconds = settings.connectSeconds
        options.tty = terminal(isRemote: options.host != nil)
        return options
    }

    /// The terminal of this process, as sent to the daemon: ttyname(3) without its allocation. For
    /// a daemon on another machine it is named with this machine: `laptop:pts/3`.
    static func terminal(isRemote: Bool) -> String? {
        guard let terminal = terminal(), isRemote else { return terminal() }
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return terminal }
        return name.withUnsafeBufferPointer { name in
            "\(String(cString: name.baseAddress!)):\(terminal)"
        }
    }

    private static func terminal() -> String? {
        for descriptor in [STDIN_FILENO, STDERR_FILENO, STDOUT_FILENO]
        where isatty(descriptor) == 1 {
            var buffer = [UInt8](repeating: 0, count: 256)
            let count = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
            guard count > 0 else { continue }
            let path = String(decoding: buffer[..<count], as: UTF8.self)
            return path.hasPrefix("/dev/") ? String(path.dropFirst(5)) : path
        }
        return nil
    }

    // MARK: Asking

    /// The whole command ends `seconds` after `started`, whatever it waits for. Returns that moment
    /// (monotonic nanoseconds).
    func end(after seconds: Double?, since started: UInt64) -> UInt64? {
        guard let seconds else { return nil }
        client.deadline = started.adding(seconds: max(seconds, Self.answerSecondsMin))
        return started.adding(seconds: seconds)
    }

    /// An error of the client. 124 if it came because the time of the whole command is over.
    private func failure(_ error: ClientFailure) -> Failure {
        var failure = Failure(error)
        switch error {
        case .refused, .incompatible, .violation: break
        case .unreachable, .launch, .lost, .timedOut:
            guard let deadline = client.deadline, MonotonicClock.now() >= deadline else { break }
            failure.status = .timedOut
        }
        return failure
    }

    /// Sends a request and reads its answer.
    func call<R>(
        _ request: Request, _ decode: (JSON) throws(DecodeError) -> R
    ) throws(Failure) -> R {
        let result = try call(request)
        return try decoded(result, decode)
    }

    /// Sends a request and returns its result unparsed.
    @discardableResult func call(_ request: Request) throws(Failure) -> JSON {
        try call([request])[0]
    }

    /// Sends requests together and returns their results unparsed.
    func call(_ requests: [Request]) throws(Failure) -> [JSON] {
        do throws(ClientFailure) {
            return try client.call(requests)
        } catch {
            throw failure(error)
        }
    }

    /// Sleeps until an event arrives.
    func wait(
        until deadline: UInt64? = nil, also descriptors: [Int32] = [], hangUp: Int32? = nil
    ) throws(Failure) -> BlockingClient.Wake {
        do throws(ClientFailure) {
            return try client.wait(until: deadline, also: descriptors, hangUp: hangUp)
        } catch {
            throw failure(error)
        }
    }

    /// A token from the command line. It is checked before any request, because an error in it is
    /// an error of the command line.
    static func token(_ text: String?, of option: String) throws(Failure) -> String? {
        guard let text else { return nil }
        do throws(ContextTokenError) {
            _ = try ContextToken.parse(text)
            return text
        } catch {
            let why =
                switch error {
                case .limit(let bytes): "it has \(bytes) bytes"
                case .invalid(let position, let expected):
                    "at byte \(position) there should be \(expected)"
                }
            throw .notToken(option, why)
        }
    }

    // MARK: The form

    /// The form that names and options refer to: `FORM/` of a field, else `--form`, else
    /// `$PICKERSYNC_FORM`, else the only form.
    func form(of names: [FieldName] = []) throws(Failure) -> String {
        try form(named: names.map(\.form))
    }

    func form(named prefixes: [String?]) throws(Failure) -> String {
        let named = prefixes.compactMap(\.self)
        if let first = named.first {
            isFormNamed = true
            let all = named + (settings.form.map { [$0] } ?? [])
            let general = settings.form ?? environmentVariable("PICKERSYNC_FORM")
            let others = named.count < prefixes.count ? (general.map { [$0] } ?? [first]) : []
            for other in all + others where other != first {
                throw .twoForms(first, other)
            }
            return first
        }
        if let form = settings.form {
            isFormNamed = true
            return form
        }
        if let form = environmentVariable("PICKERSYNC_FORM") { return form }
        let forms = try formNames()
        if forms.count == 1 { return forms[0] }
        throw forms.isEmpty ? .noForms : .whichForm(forms)
    }

    /// The names of the daemon's forms, cached.
    private func formNames() throws(Failure) -> [String] {
        if let knownForms { return knownForms }
        let list = try call(.formList) { json throws(DecodeError) in
            try FormList(decoding: json)
        }
        let names = list.forms.map(\.form)
        knownForms = names
        return names
    }

    /// The form and the fields that arguments refer to; no fields means the whole form.
    ///
    /// An argument is `FIELD`, `FORM/FIELD`, or `FORM/` for the whole form. If there are several
    /// forms and none was chosen, the name of a form alone means the whole form.
    func place(of words: [String]) throws(Failure) -> (form: String, fields: [FieldName]) {
        let names = words.map { FieldName($0) }
        if words.count == 1, names[0].isBare, settings.form == nil,
            environmentVariable("PICKERSYNC_FORM") == nil
        {
            let forms = try formNames()
            if forms.count > 1, forms.contains(words[0]) {
                isFormNamed = true
                return (words[0], [])
            }
        }
        let form = try form(of: names)
        return (form, try Self.fields(of: names))
    }

    /// The fields that arguments name: none for the whole form, which is named alone.
    static func fields(of names: [FieldName]) throws(Failure) -> [FieldName] {
        guard let whole = names.first(where: \.isWholeForm), let form = whole.form else {
            return names
        }
        if let other = names.first(where: { !$0.isWholeForm }) {
            throw .wholeForm(form, and: other.field)
        }
        return []
    }

    /// `FORM/` if the only argument is not a field but the name of a form.
    func wholeForm(_ words: [String]) throws(Failure) -> String? {
        guard words.count == 1, settings.form == nil, FieldName(words[0]).isBare,
            try formNames().contains(words[0])
        else { return nil }
        return words[0] + "/"
    }

    /// The form in a positional argument, `FORM` or `FORM/`, or else as in `form(of:)`.
    func form(at position: String?) throws(Failure) -> String {
        guard let position else { return try form() }
        return try form(named: [position.hasSuffix("/") ? String(position.dropLast()) : position])
    }

    /// The controls that names and patterns refer to, without duplicates, in the order of the
    /// arguments. Patterns skip controls for which `isFit` is false.
    func fields(
        _ names: [FieldName], in outline: FormOutline, where isFit: (FieldOutline) -> Bool
    ) throws(Failure) -> [FieldOutline] {
        var chosen: [FieldOutline] = []
        for name in names {
            let glob = Glob(name.field)
            if glob.literal != nil {
                chosen.append(try field(name.field, in: outline))
                continue
            }
            let matches = outline.fields.filter { glob.matches($0.id) && isFit($0) }
            if matches.isEmpty { throw .noMatch(name.field, outline.id) }
            chosen += matches.filter { match in !chosen.contains { $0.id == match.id } }
        }
        return chosen
    }

    /// A page of a form's history. One that does not go back could be asked for without end.
    func historyPage(_ request: StateHistory) throws(Failure) -> HistoryPage {
        try historyPage(request, try call(.stateHistory(request)))
    }

    /// The page that answered a request.
    func historyPage(_ request: StateHistory, _ answer: JSON) throws(Failure) -> HistoryPage {
        let page = try decoded(answer) { json throws(DecodeError) in
            try HistoryPage(decoding: json)
        }
        var below = request.before ?? .max
        for entry in page.entries {
            guard entry.revision < below else {
                throw .endlessHistory(at: entry.revision)
            }
            below = entry.revision
        }
        return page
    }

    /// The form's controls.
    func outline(_ form: String) throws(Failure) -> FormOutline {
        FormOutline(
            try definition(form).definition, prefix: isFormNamed ? "\(form)/" : "")
    }

    func definition(_ form: String) throws(Failure) -> FormResult {
        try call(.formGet(form: form)) { json throws(DecodeError) in
            try FormResult(decoding: json)
        }
    }

    /// The values of matching fields; of all without patterns.
    func snapshot(_ form: String, _ fields: [String]? = nil) throws(Failure) -> StateSnapshot {
        try call(.stateGet(StateGet(form: form, fields: fields))) { json throws(DecodeError) in
            try StateSnapshot(decoding: json)
        }
    }

    /// Executes a transaction.
    @discardableResult func set(_ edit: StateSet) throws(Failure) -> SetResult {
        try call(.stateSet(edit)) { json throws(DecodeError) in try SetResult(decoding: json) }
    }

    /// A control by its id; the error suggests similar ids.
    func field(_ id: String, in outline: FormOutline) throws(Failure) -> FieldOutline {
        if let field = outline[id] { return field }
        throw .noField(id, outline.id, among: outline.fields.map(\.id))
    }
}
