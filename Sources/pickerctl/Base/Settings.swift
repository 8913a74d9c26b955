internal import ArgumentParser
internal import Glibc
internal import PickerClient
internal import SyncCore

/// In commands, `OptionGroup` is ArgumentParser's and not the core's, which is for pickers.
typealias OptionGroup<Value: ParsableArguments> = ArgumentParser.OptionGroup<Value>

/// The common options, however they were parsed.
struct Settings: Equatable {
    var socket: String?
    var host: String?
    var form: String?
    var autostart = true
    var connectSeconds: Double?
    var isQuiet = false
    var color = Console.Color.auto
}

extension Console.Color: ExpressibleByArgument {}

/// The common options of all commands.
struct CommonOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The daemon's socket.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The machine of the daemon, as ssh accepts it; else $PICKERSYNC_HOST, else this one.",
            valueName: "host"))
    var host: String?

    @Option(
        name: [.customShort("f"), .long],
        help: ArgumentHelp(
            "The form; else $PICKERSYNC_FORM, else the only one there is.", valueName: "form"),
        completion: .custom(Completion.forms))
    var form: String?

    @Flag(name: .customLong("no-autostart"), help: "Do not start the user's own daemon.")
    var noAutostart = false

    @Option(
        help: ArgumentHelp("Retry the connection for this long.", valueName: "duration"),
        transform: Duration.seconds)
    var connectTimeout: Double?

    @Flag(name: .shortAndLong, help: "No remarks, only errors.")
    var quiet = false

    @Option(help: ArgumentHelp("Colours: auto, always or never.", valueName: "when"))
    var color = Console.Color.auto

    var settings: Settings {
        Settings(
            socket: socket, host: host, form: form, autostart: !noAutostart,
            connectSeconds: connectTimeout, isQuiet: quiet, color: color)
    }

    func validate() throws {
        if socket?.isEmpty ?? false {
            throw ValidationError(UsageWords.isEmpty("--socket", "PATH"))
        }
        if host?.isEmpty ?? false {
            throw ValidationError(UsageWords.isEmpty("--host", "HOST"))
        }
        if form?.isEmpty ?? false {
            throw ValidationError(UsageWords.isEmpty("--form", "FORM"))
        }
    }
}

/// The value of an option that is a duration.
enum Duration {
    /// Its seconds.
    static func seconds(_ text: String) throws -> Double {
        guard let seconds = DurationText.seconds(text) else {
            throw ValidationError(DurationText.expected)
        }
        return seconds
    }
}
