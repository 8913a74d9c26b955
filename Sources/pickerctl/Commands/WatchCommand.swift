internal import ArgumentParser

/// `pickerctl watch`: a line a change.
struct WatchCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json, value }

    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print changes as they happen, or run a command for each.",
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
    @Option(name: .shortAndLong, help: "text, json or value.") var output = Format.text
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

    func run() throws {
        var options = WatchOptions()
        options.fields = field
        options.format =
            switch output {
            case .text: .text
            case .json: .json
            case .value: .value
            }
        options.since = since
        options.showsInitial = initial
        options.count = count
        options.timeoutSeconds = timeout
        options.debounceSeconds = debounce
        options.until = until
        options.command = exec
        options.keepsLatest = latest
        try Watcher(Session(common.settings), options).run()
    }
}
