internal import ArgumentParser

/// `pickerctl watch`: a line a change.
struct WatchCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "watch", abstract: "Print changes as they happen, or run a command for each.",
        discussion: """
            Reconnects by itself and misses nothing. A --exec child has PICKER_FORM, PICKER_FIELD, \
            PICKER_VALUE, PICKER_WAS, PICKER_USER, PICKER_REVISION and PICKER_COALESCED, and the \
            change as JSON on standard input; one runs at a time, in order.

            Example: pickerctl watch traffic --exec './set-weight.sh "$PICKER_VALUE"'
            """)

    @OptionGroup var common: CommonOptions
    @Argument(
        help: ArgumentHelp("Which fields; * and ? match.", valueName: "field-glob"),
        completion: .custom { words, _, _ in Completion.readable(words) })
    var field: [String] = []
    @Option(name: .shortAndLong, help: "text, json or value.") var output = WatchOptions.Format.text
    @Option(help: ArgumentHelp("Everything after this revision first.", valueName: "revision"))
    var since: Int64?
    @Flag(help: "The present values first.") var initial = false
    @Option(help: ArgumentHelp("End after so many changes.", valueName: "n")) var count: Int?
    @Option(help: ArgumentHelp("End after so many seconds, with 124.", valueName: "seconds"))
    var timeout: Double?
    @Option(help: ArgumentHelp("Wait until it was quiet so long.", valueName: "seconds"))
    var debounce: Double = 0
    @Option(
        help: ArgumentHelp("End when this holds.", valueName: "field=value"),
        completion: .custom { words, _, _ in Completion.assignments(words) })
    var until: String?
    @Option(help: ArgumentHelp("Run this for each change.", valueName: "command"))
    var exec: String?
    @Flag(help: "Skip to the newest change when the command is slow.") var latest = false

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count takes a number from 1 on") }
        if latest, exec == nil { throw ValidationError("--latest goes with --exec") }
        if let since, since < 0 { throw ValidationError("--since takes a revision, 0 or more") }
        if !(debounce >= 0) || timeout.map({ !($0 >= 0) }) ?? false {
            throw ValidationError("--debounce and --timeout take seconds, 0 or more")
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
        options.debounceSeconds = debounce
        options.until = until
        options.command = exec
        options.keepsLatest = latest
        return WatchRequest(settings: common.settings, options: options)
    }
}

extension WatchOptions.Format: ExpressibleByArgument {}

/// `pickerctl watch` as it was asked for.
struct WatchRequest: PlainRequest {
    let settings: Settings
    let options: WatchOptions

    func run() throws(Failure) { try Watcher(Session(settings), options).run() }
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
