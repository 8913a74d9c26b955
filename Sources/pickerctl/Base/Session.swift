// One run of a command: its settings, its console, its connection, and what it has learnt of the
// form.

internal import Glibc
internal import PickerClient
internal import SyncCore

/// A command's run.
final class Session {
    let settings: Settings
    let console: Console
    let client: BlockingClient

    init(_ settings: Settings) {
        self.settings = settings
        console = Console(color: settings.color, isQuiet: settings.isQuiet)
        var options = BlockingClient.Options(client: "pickerctl/\(Version.current)")
        options.socket = settings.socket
        options.autostart = settings.autostart
        options.connectSeconds = settings.connectSeconds
        options.tty = Self.terminal()
        client = BlockingClient(options)
    }

    /// The terminal that this runs on, as claimed to others: ttyname(3) without its allocation.
    static func terminal() -> String? {
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

    /// Sends a request and reads its answer.
    func call<R>(
        _ request: Request, _ decode: (JSON) throws(DecodeError) -> R
    ) throws(Failure) -> R {
        let result = try call(request)
        do throws(DecodeError) {
            return try decode(result)
        } catch {
            throw Failure(
                .unavailable,
                "the daemon's answer cannot be read (\(error)); is it of this version?"
            )
        }
    }

    /// Sends a request and gives its answer as it came.
    @discardableResult func call(_ request: Request) throws(Failure) -> JSON {
        do throws(ClientFailure) {
            return try client.call(request)
        } catch {
            throw Failure(error)
        }
    }

    /// A token as it was given, checked before anything is asked: a typing error in it is one of
    /// the command line.
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
            throw .usage(
                "\(option) is no token (\(why)); take the one that pickerctl get --context prints")
        }
    }

    // MARK: The form

    /// The form that names and options mean: `FORM/` of a field, else `--form`, else
    /// `$PICKERSYNC_FORM`, else the only one there is.
    func form(of names: [FieldName] = []) throws(Failure) -> String {
        try form(named: names.map(\.form))
    }

    func form(named prefixes: [String?]) throws(Failure) -> String {
        let named = prefixes.compactMap(\.self)
        if let first = named.first {
            let all = named + (settings.form.map { [$0] } ?? [])
            let general = settings.form ?? environmentVariable("PICKERSYNC_FORM")
            let others = named.count < prefixes.count ? (general.map { [$0] } ?? [first]) : []
            for other in all + others where other != first {
                throw .usage(
                    "one command works on one form, and both \(first) and \(other) are named; "
                        + "run it once for each")
            }
            return first
        }
        if let form = settings.form ?? environmentVariable("PICKERSYNC_FORM") { return form }
        let forms = try call(.formList) { json throws(DecodeError) in
            try FormList(decoding: json)
        }.forms
        if forms.count == 1 { return forms[0].form }
        if forms.isEmpty {
            throw Failure(.noInput, "the daemon has no form; see pickerctl form apply --help")
        }
        let names = forms.prefix(8).map(\.form).joined(separator: ", ")
        let more = forms.count > 8 ? ", …" : ""
        throw .usage(
            "which form? there are \(names)\(more); name one with --form, or set PICKERSYNC_FORM")
    }

    /// The form's controls.
    func outline(_ form: String) throws(Failure) -> FormOutline {
        FormOutline(try definition(form).definition)
    }

    func definition(_ form: String) throws(Failure) -> FormResult {
        try call(.formGet(form: form)) { json throws(DecodeError) in
            try FormResult(decoding: json)
        }
    }

    /// The values of the fields that match, all without any.
    func snapshot(_ form: String, _ fields: [String]? = nil) throws(Failure) -> StateSnapshot {
        try call(.stateGet(StateGet(form: form, fields: fields))) { json throws(DecodeError) in
            try StateSnapshot(decoding: json)
        }
    }

    /// Runs a transaction.
    @discardableResult func set(_ edit: StateSet) throws(Failure) -> SetResult {
        try call(.stateSet(edit)) { json throws(DecodeError) in try SetResult(decoding: json) }
    }

    /// A control by its id, or the error that names the nearest.
    func field(_ id: String, in outline: FormOutline) throws(Failure) -> FieldOutline {
        if let field = outline[id] { return field }
        throw Self.noField(id, outline.id, among: outline.fields.map(\.id))
    }

    static func noField(_ id: String, _ form: String, among ids: [String]) -> Failure {
        let similar = Similar.names(to: id, among: ids)
        let step =
            similar.isEmpty
            ? "see pickerctl describe" : "did you mean \(similar.joined(separator: " or "))?"
        return Failure(.noInput, "no field \"\(id)\" in form \(form); \(step)")
    }
}
