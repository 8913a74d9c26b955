internal import ArgumentParser
internal import PickerClient

/// `pickerctl watch`: one line per change.
struct WatchCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "watch", abstract: "Print changes as they happen, or run a command for each change.",
        discussion: """
            Reconnects by itself and misses nothing. The command of --exec gets PICKER_FORM, \
            PICKER_FIELD, PICKER_VALUE, PICKER_WAS, PICKER_USER, PICKER_REVISION and \
            PICKER_COALESCED, and the change as JSON on standard input; one runs at a time, in \
            order.

            Example: pickerctl watch traffic --exec './set-weight.sh "$PICKER_VALUE"'
            """)

    @OptionGroup var common: CommonOptions
    @Argument(
        help: ArgumentHelp("Fields, patterns with * and ?, or FORM/.", valueName: "field-glob"),
        completion: .custom(Completion.readable))
    var field: [String] = []
    @Option(name: .shortAndLong, help: "text, json or value.") var output = WatchOptions.Format.text
    @Option(help: ArgumentHelp("First every change after this revision.", valueName: "revision"))
    var since: Int64?
    @Flag(help: "First the present values.") var initial = false
    @Option(help: ArgumentHelp("End after this number of changes.", valueName: "n")) var count: Int?
    @Option(
        help: ArgumentHelp("End after this time, with 124.", valueName: "duration"),
        transform: Duration.seconds)
    var timeout: Double?
    @Option(
        help: ArgumentHelp(
            "Report a field after this time without a change.", valueName: "duration"),
        transform: Duration.seconds)
    var debounce: Double?
    @Option(
        help: ArgumentHelp("End when this is true.", valueName: "field=value"),
        completion: .custom(Completion.assignments))
    var until: String?
    @Option(help: ArgumentHelp("Run this for each change.", valueName: "command"))
    var exec: String?
    @Flag(help: "Skip to the newest change when the command is slow.") var latest = false

    func validate() throws {
        if let count, count < 1 {
            throw ValidationError(
                UsageWords.number("--count", Int64(count), write: UsageWords.oneOrMore))
        }
        if latest, exec == nil {
            throw ValidationError(
                UsageWords.needs("--latest", "--exec", write: "--exec COMMAND"))
        }
        if let since, since < 0 {
            throw ValidationError(
                UsageWords.number("--since", since, write: UsageWords.revision))
        }
    }

    var request: WatchRequest {
        var options = WatchOptions()
        options.fields = field
        options.format = output
        options.since = since
        options.showsInitial = initial
        options.count = count
        options.timeoutSeconds = timeout
        options.debounceSeconds = debounce ?? 0
        options.until = until
        options.command = exec
        options.keepsLatest = latest
        return WatchRequest(settings: common.settings, options: options)
    }
}

extension WatchOptions.Format: ExpressibleByArgument {}

/// The arguments of `pickerctl watch`.
struct WatchRequest: PlainRequest {
    let settings: Settings
    let options: WatchOptions

    func run() throws(Failure) {
        let started = MonotonicClock.now()
        let session = Session(settings)
        let ends = session.end(after: options.timeoutSeconds, since: started)
        try Watcher(session, options, until: ends).run()
    }
}

extension WatchRequest {
    init(_ words: inout PlainWords) {
        settings = words.settings()
        var options = WatchOptions()
        options.format = words.choice("--output", "-o") ?? .text
        options.since = words.number(words.value("--since"), from: 0)
        options.showsInitial = words.flag("--initial")
        options.count = words.number(words.value("--count"), from: 1)
        options.timeoutSeconds = words.seconds("--timeout")
        options.debounceSeconds = words.seconds("--debounce") ?? 0
        options.until = words.value("--until")
        options.command = words.value("--exec")
        options.keepsLatest = words.flag("--latest")
        words.require(!options.keepsLatest || options.command != nil)
        options.fields = words.names()
        self.options = options
    }
}
