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
            FORM/FIELD opens the form at a field. A file, a name with a dot or a path, is applied \
            first. The arrow keys move, Enter and Space act, ? shows all keys, q leaves. With \
            --accessible, ACCESSIBLE=1 or TERM=dumb the form is plain lines. Without a terminal, \
            standard input has one answer per line; controls without an answer are printed.
            """)
    @OptionGroup var common: CommonOptions
    @OptionGroup var live: LiveOptions
    @Argument(
        help: ArgumentHelp("A form, or a file to apply first.", valueName: "form-or-file"),
        completion: .custom(Completion.formsAndFiles)) var form: String?

    func run() throws {
        var settings = common.settings
        var session: Session
        var field: String?
        if let form, Self.isFile(form) {
            let definition = try FormFiles.read(form)
            session = Session(settings)
            try Self.apply(definition, form, session)
            settings.form = definition["form"]?.stringValue
        } else {
            session = Session(settings)
            let place = form.map { FieldName($0) }
            settings.form = try session.form(at: place?.form ?? form)
            if let place, !place.isWholeForm, place.form != nil { field = place.field }
        }
        var name = try settings.form ?? session.form()
        var around: LiveModel.Surroundings?
        while true {
            let presentation = try LiveStart.presentation(of: name, session)
            if let field, presentation.index(field) == nil {
                throw Failure.noField(
                    field, name, among: presentation.definition.controls.map(\.id))
            }
            let (status, model) = try LiveStart.open(
                presentation, session, live, settings, at: field, around)
            if status != .done { throw Failure.silent(status) }
            guard let model, let next = model.next else { return }
            // Another form was chosen. It opens with the theme and keys of this one.
            (name, field, around) = (next, nil, model.around)
            settings.form = next
            session = Session(settings)
        }
    }

    /// Whether an argument is a file rather than a form or a field of one: a name with a dot, an
    /// absolute path, or a path to a file that exists.
    private static func isFile(_ text: String) -> Bool {
        text.contains(".") || text.hasPrefix("/")
            || text.contains("/") && FileFacts.at(text).map { $0.kind != .directory } ?? false
    }

    /// Applies a file; asks first if a value would be lost.
    private static func apply(
        _ definition: JSON, _ file: String, _ session: Session
    ) throws(Failure) {
        let form = definition["form"]?.stringValue ?? ""
        let preview = try session.call(
            .formApply(FormApply(definition: definition, isDryRun: true))
        ) { json throws(DecodeError) in try ApplyResult(decoding: json) }
        let lost = preview.invalid + preview.reset + preview.removed
        if !lost.isEmpty {
            try Console.confirm(
                QuestionWords.apply(file, to: form, losing: lost), isAgreed: false,
                orElse: .unchanged("form \(form)"))
        }
        try session.call(.formApply(FormApply(definition: definition)))
    }
}

/// What `open` and `pick` have in common.
struct LiveOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The colours: \(Self.themes).", valueName: "name"))
    var theme: String?

    @Flag(help: "Plain lines and questions, for screen readers.") var accessible = false

    @Flag(name: .customLong("no-motion"), help: "Nothing slides; NO_MOTION=1 has the same effect.")
    var noMotion = false

    @Flag(
        name: .customLong("non-interactive"),
        help: "Ask nothing and print the present values.") var nonInteractive = false

    @OptionGroup var why: MessageOption
    /// The message of every edit, as `why` means it.
    var message: String?

    private enum CodingKeys: CodingKey { case theme, accessible, noMotion, nonInteractive, why }

    private static let themes = Theme.all.map(\.name).joined(separator: ", ")

    func validate() throws {
        if let theme, Theme.named(theme) == nil {
            throw ValidationError(
                Wording.refusal(
                    UsageWords.noTheme(theme), expected: Wording.oneOf(Theme.all.map(\.name))))
        }
    }
}

/// The data that a form needs before it is displayed.
enum LiveStart {
    /// The current form from the daemon.
    static func presentation(of form: String, _ session: Session) throws(Failure)
        -> FormPresentation
    {
        let result = try session.definition(form)
        let definition = try parse(result.definition)
        return FormPresentation(definition, FormReplica(try session.snapshot(form)))
    }

    static func parse(_ json: JSON) throws(Failure) -> FormDefinition {
        do throws(FormIssues) {
            return try FormDefinition.parse(
                json, limits: .received, compile: RegularExpression.compiler)
        } catch { throw Failure.unknownForm }
    }

    /// Whether to show plain lines: because the user wants them, or nothing else is possible.
    static func isPlain(_ options: LiveOptions) -> Bool {
        options.accessible || isatty(STDIN_FILENO) != 1 || environmentVariable("TERM") == "dumb"
            || isSet("ACCESSIBLE")
    }

    /// Whether an environment variable is set and not 0.
    private static func isSet(_ variable: String) -> Bool {
        environmentVariable(variable).map { $0 != "0" } ?? false
    }

    /// Shows the whole form. Returns the status and the model at the end. `before` has the settings
    /// of an earlier form.
    static func open(
        _ presentation: FormPresentation, _ session: Session, _ options: LiveOptions,
        _ settings: Settings, at field: String? = nil, _ around: LiveModel.Surroundings? = nil
    ) throws(Failure) -> (status: ExitStatus, model: LiveModel?) {
        if options.nonInteractive { return (try present(presentation, session), nil) }
        var options = options
        options.message = try session.message(options.why.message)
        if !isPlain(options), isatty(STDOUT_FILENO) == 1, let terminal = Terminal(.screen) {
            return run(
                presentation, session, options, settings, terminal, .form, at: field, around)
        }
        return try lines(presentation, session, options, settings, .form, STDOUT_FILENO)
    }

    /// One control.
    static func pick(
        _ presentation: FormPresentation, _ session: Session, _ options: LiveOptions,
        _ settings: Settings,
        _ mode: LiveModel.Mode
    ) throws(Failure) -> (status: ExitStatus, model: LiveModel) {
        var options = options
        options.message = try session.message(options.why.message)
        if !isPlain(options), let terminal = Terminal(.inline) {
            return run(presentation, session, options, settings, terminal, mode)
        }
        return try lines(presentation, session, options, settings, mode, STDERR_FILENO)
    }

    /// Prints the values without questions.
    private static func present(
        _ presentation: FormPresentation, _ session: Session
    ) throws(Failure) -> ExitStatus {
        var missing: [String] = []
        for index in presentation.definition.controls.indices where presentation.isVisible(index) {
            let control = presentation.definition.controls[index]
            if presentation.shown(index).isMissing { missing.append(control.id) }
            if case .button = control.kind { continue }
            try session.console.safeLine("\(control.title): \(presentation.text(index))")
        }
        try session.console.flush()
        if !missing.isEmpty {
            throw .missing(missing)
        }
        return .done
    }

    private static func lines(
        _ presentation: FormPresentation, _ session: Session, _ options: LiveOptions,
        _ settings: Settings,
        _ mode: LiveModel.Mode, _ output: Int32
    ) throws(Failure) -> (status: ExitStatus, model: LiveModel) {
        let isPerson = isatty(STDIN_FILENO) == 1
        var model = LiveModel(
            presentation, surroundings(options, settings, .ascii), mode: mode,
            size: Size(columns: 80, lines: 24))
        model.activeEdit = nil
        let link = LiveLink(
            session.client.resolution, form: presentation.form, tty: session.terminal,
            startsDaemon: settings.autostart)
        session.client.close()
        var runtime = LineRuntime(LineForm(model, isPerson: isPerson), link, output: output)
        return try runtime.run()
    }

    static func run(
        _ presentation: FormPresentation, _ session: Session, _ options: LiveOptions,
        _ settings: Settings,
        _ terminal: Terminal, _ mode: LiveModel.Mode, at field: String? = nil,
        _ before: LiveModel.Surroundings? = nil
    ) -> (status: ExitStatus, model: LiveModel) {
        let charset = Charset(variable: environmentVariable)
        let around = before ?? surroundings(options, settings, charset)
        var model = LiveModel(presentation, around, mode: mode, size: terminal.size)
        if let field { model.focus = .control(field) }
        let link = LiveLink(
            session.client.resolution, form: presentation.form, tty: session.terminal,
            startsDaemon: settings.autostart)
        session.client.close()
        var runtime = LiveRuntime(model, link, terminal, charset: charset)
        return runtime.run()
    }

    /// How many colours are used.
    static func depth(_ color: Console.Color) -> ColorDepth {
        let depth = ColorDepth(variable: environmentVariable)
        switch color {
        case .never: return .none
        case .always where depth == .none: return .sixteen
        case .auto, .always: return depth
        }
    }

    private static func surroundings(
        _ options: LiveOptions, _ settings: Settings, _ charset: Charset
    ) -> LiveModel.Surroundings {
        let depth = depth(settings.color)
        var around = LiveModel.Surroundings(compile: RegularExpression.compiler)
        let preferences = Preferences.load()
        for problem in preferences.problems { Console.error(problem) }
        around.keys = preferences.keys
        around.themes =
            options.theme.flatMap { Theme.named($0) }.map { .one($0) } ?? preferences.themes
        around.choosesTheme = !around.themes.isFixed && depth > .sixteen
        // The font of the Linux console has letters of many languages and few symbols.
        let hasFewGlyphs = environmentVariable("TERM") == "linux"
        around.environment = StyleEnvironment(
            theme: around.themes.theme(isDark: nil), depth: depth, charset: charset,
            glyphs: hasFewGlyphs ? .ascii : nil)
        around.hasMotion = !options.noMotion && !isSet("NO_MOTION")
        around.message = options.message
        around.today = LocalTime.today
        around.localTime = { LocalTime.clock($0) }
        around.clock = { LocalTime.now }
        return around
    }
}
