// `pickerctl handle`: a command for each press of a button with `runs`.

internal import ArgumentParser
internal import Glibc
internal import SyncCore

/// `pickerctl handle`.
struct HandleCommand: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        "handle", abstract: "Run a command for each press of a button.",
        discussion: """
            The button needs runs in the form, and you the access handle. The command gets the \
            form's values as run gives them, without secrets, and PICKERSYNC_PRESS, \
            PICKERSYNC_BUTTON, PICKERSYNC_BY, PICKERSYNC_AT, PICKERSYNC_MESSAGE and, after a \
            handler was lost, PICKERSYNC_AGAIN=1. A line of its output that begins with 42% or \
            7/12 moves the progress bar, any other line is the text beside it. Exit status 0 is \
            done; any other is failed, with the last line of standard error.

            One press at a time; start it several times to handle several. A command whose press \
            is cancelled gets SIGTERM, and SIGKILL 8 seconds later. If the daemon is gone for 20 \
            seconds the command gets SIGTERM, and SIGKILL 8 seconds later, because after 30 \
            seconds another handler may begin.

            Example: pickerctl handle deploy/start -- ./deploy.sh
            """)
    @OptionGroup var common: CommonOptions
    @Argument(
        help: "The button, or a pattern; all buttons with runs if there is none.",
        completion: .custom { Completion.fields($0, $1, $2, [.button]) })
    var button: String?
    @Argument(parsing: .postTerminator, help: "The command, after --.") var command: [String] = []

    func validate() throws {
        if command.isEmpty {
            throw ValidationError(
                UsageWords.nothing(to: "run", write: "pickerctl handle BUTTON -- COMMAND"))
        }
    }

    func run() throws {
        let session = Session(common.settings)
        let (form, names) = try session.place(of: button.map { [$0] } ?? [])
        let outline = try session.outline(form)
        let buttons = try session.fields(names, in: outline) { $0.json["runs"] != nil }
        for button in buttons where button.json["runs"] == nil { throw Failure.noRuns(button) }
        let path = try RunCommand.executable(command[0])
        let handler = ButtonHandler(
            session, outline, buttons: buttons.isEmpty ? nil : buttons.map(\.id), path: path,
            command: command)
        Glibc.exit(try handler.run())
    }
}
