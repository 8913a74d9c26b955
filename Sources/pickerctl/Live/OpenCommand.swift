internal import ArgumentParser
internal import FormFile
internal import Glibc
internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// `pickerctl open`: the live form.
struct OpenCommand: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        "open", abstract: "Open a form, live and shared.",
        discussion: """
            A file (one that exists, or a name with / or .yaml) is applied first. The arrows move,
            Enter and Space act, ? shows all keys, q leaves. With --accessible, ACCESSIBLE=1 or
            TERM=dumb the form is plain lines; without a terminal, answers come line by line.
            """)
    @OptionGroup var common: CommonOptions
    @OptionGroup var live: LiveOptions
    @Argument(
        help: ArgumentHelp("A form, or a file to apply first.", valueName: "form-or-file"),
        completion: .file(extensions: ["yaml", "yml", "json"])) var form: String?

    func run() throws {
        var settings = common.settings
        let isFile = form.map { $0.contains("/") || $0.contains(".") } ?? false
        let session: Session
        if let form, isFile {
            let definition = try FormFiles.read(form)
            session = Session(settings)
            try Self.apply(definition, form, session)
            settings.form = definition["form"]?.stringValue
        } else {
            settings.form = form ?? settings.form
            session = Session(settings)
        }
        let name = try settings.form ?? session.form()
        let mirror = try LiveStart.mirror(of: name, session)
        let status = try LiveStart.open(mirror, session, live, settings)
        if status != .done { throw Failure.silent(status) }
    }

    /// Applies a file; one that would lose a value is asked about.
    private static func apply(
        _ definition: JSON, _ file: String, _ session: Session
    ) throws(Failure) {
        let form = definition["form"]?.stringValue ?? ""
        let preview = try session.call(
            .formApply(FormApply(definition: definition, isDryRun: true))
        ) { json throws(DecodeError) in try ApplyResult(decoding: json) }
        let lost = preview.invalid + preview.reset + preview.removed
        if !lost.isEmpty {
            let question =
                "\(file) would lose values of \(form): \(lost.joined(separator: ", ")); apply it?"
            guard Console.ask(question) == true else {
                throw Failure(
                    .notMet, "\(file) would lose values; see pickerctl form apply \(file)")
            }
        }
        try session.call(.formApply(FormApply(definition: definition)))
    }
}

/// What `open` and `pick` have in common.
struct LiveOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The colours: \(Self.themes).", valueName: "name"))
    var theme: String?

    @Flag(help: "Plain lines and questions, for screen readers.") var accessible = false

    @Flag(
        name: .customLong("non-interactive"),
        help: "Ask nothing: take the present values and defaults.") var nonInteractive = false

    private static let themes = Theme.all.map(\.name).joined(separator: ", ")

    func validate() throws {
        if let theme, Theme.named(theme) == nil {
            throw ValidationError("no theme \"\(theme)\"; there are \(Self.themes)")
        }
    }
}

/// What has to be known before a form is shown.
enum LiveStart {
    /// The form as the daemon has it now.
    static func mirror(of form: String, _ session: Session) throws(Failure) -> FormMirror {
        let result = try session.definition(form)
        let definition = try parse(result.definition)
        return FormMirror(definition, try session.snapshot(form))
    }

    static func parse(_ json: JSON) throws(Failure) -> FormDefinition {
        do throws(FormIssues) {
            return try FormDefinition.parse(
                json, limits: FormLimits(), compile: RegularExpression.compiler)
        } catch {
            throw Failure(
                .unavailable, "the daemon's form cannot be shown; is it of this version?")
        }
    }

    /// Whether plain lines are wanted, or nothing else is possible.
    static func isPlain(_ options: LiveOptions) -> Bool {
        options.accessible || isatty(STDIN_FILENO) != 1 || environmentVariable("TERM") == "dumb"
            || environmentVariable("ACCESSIBLE").map { $0 != "0" } ?? false
    }

    /// The whole form.
    static func open(
        _ mirror: FormMirror, _ session: Session, _ options: LiveOptions, _ settings: Settings
    ) throws(Failure) -> ExitStatus {
        if options.nonInteractive { return try present(mirror, session) }
        if !isPlain(options), isatty(STDOUT_FILENO) == 1, let terminal = Terminal(.screen) {
            return run(mirror, session, options, settings, terminal, .form).status
        }
        return try lines(mirror, session, options, settings, .form, STDOUT_FILENO).status
    }

    /// One control.
    static func pick(
        _ mirror: FormMirror, _ session: Session, _ options: LiveOptions, _ settings: Settings,
        _ mode: LiveModel.Mode
    ) throws(Failure) -> (status: ExitStatus, model: LiveModel) {
        if !isPlain(options), let terminal = Terminal(.inline) {
            return run(mirror, session, options, settings, terminal, mode)
        }
        return try lines(mirror, session, options, settings, mode, STDERR_FILENO)
    }

    /// The values as they are: nobody is asked.
    private static func present(
        _ mirror: FormMirror, _ session: Session
    ) throws(Failure) -> ExitStatus {
        var missing: [String] = []
        for index in mirror.definition.controls.indices where mirror.isVisible(index) {
            let control = mirror.definition.controls[index]
            if mirror.shown(index).isMissing { missing.append(control.id) }
            if case .button = control.kind { continue }
            try session.console.safeLine("\(control.title): \(mirror.text(index))")
        }
        try session.console.flush()
        if !missing.isEmpty {
            throw Failure(.notMet, "required and empty: \(missing.joined(separator: ", "))")
        }
        return .done
    }

    private static func lines(
        _ mirror: FormMirror, _ session: Session, _ options: LiveOptions, _ settings: Settings,
        _ mode: LiveModel.Mode, _ output: Int32
    ) throws(Failure) -> (status: ExitStatus, model: LiveModel) {
        let isPerson = isatty(STDIN_FILENO) == 1
        var model = LiveModel(
            mirror, surroundings(options, settings, .ascii), mode: mode,
            size: Size(columns: 80, lines: 24))
        model.hold = nil
        let link = LiveLink(
            path: session.client.resolution.path, form: mirror.form, tty: Session.terminal())
        session.client.close()
        var runtime = LineRuntime(LineForm(model, isPerson: isPerson), link, output: output)
        return try runtime.run()
    }

    static func run(
        _ mirror: FormMirror, _ session: Session, _ options: LiveOptions, _ settings: Settings,
        _ terminal: Terminal, _ mode: LiveModel.Mode
    ) -> (status: ExitStatus, model: LiveModel) {
        let charset = Charset(variable: environmentVariable)
        let around = surroundings(options, settings, charset)
        let model = LiveModel(mirror, around, mode: mode, size: terminal.size)
        let link = LiveLink(
            path: session.client.resolution.path, form: mirror.form, tty: Session.terminal())
        session.client.close()
        var runtime = LiveRuntime(model, link, terminal, charset: charset)
        return runtime.run()
    }

    private static func surroundings(
        _ options: LiveOptions, _ settings: Settings, _ charset: Charset
    ) -> LiveModel.Surroundings {
        var depth = ColorDepth(variable: environmentVariable)
        switch settings.color {
        case .never: depth = .none
        case .always where depth == .none: depth = .sixteen
        case .auto, .always: break
        }
        var around = LiveModel.Surroundings(compile: RegularExpression.compiler)
        let preferences = Preferences.load()
        for problem in preferences.problems { Console.error(problem) }
        around.keys = preferences.keys
        around.themes =
            options.theme.flatMap { Theme.named($0) }.map { .one($0) } ?? preferences.themes
        around.choosesTheme = !around.themes.isFixed && depth > .sixteen
        around.environment = StyleEnvironment(
            theme: around.themes.theme(isDark: nil), depth: depth, charset: charset)
        around.today = LocalTime.today
        around.localTime = { LocalTime.clock($0) }
        return around
    }
}
