internal import ArgumentParser
internal import FormFile
internal import Glibc
internal import PickerClient
internal import TerminalUI

/// `pickerctl form preview`: needs no daemon.
struct FormPreviewCommand: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        "preview", abstract: "Show a form file as a terminal shows it; needs no daemon.",
        discussion: """
            Prints the form with its defaults, in the styles that it names; - is standard input. \
            Without a terminal the text has no colours (see --color) and 80 columns.

            Example: pickerctl form preview --columns 60 deploy.yaml
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .file(extensions: ["yaml", "yml", "json"])) var file: String
    @Option(help: "The width; by default the terminal's.") var columns: Int?

    func validate() throws {
        if let columns, !(1...1_000).contains(columns) {
            throw ValidationError(
                UsageWords.number(
                    "--columns", Int64(columns), write: UsageWords.range(1, 1_000)))
        }
    }

    func run() throws {
        let settings = common.settings
        let console = Console(color: settings.color, isQuiet: settings.isQuiet)
        let definition = try LiveStart.parse(try FormFiles.read(file, showsEveryIssue: true))
        let environment = StyleEnvironment(
            theme: Preferences.load().themes.theme(isDark: nil),
            depth: LiveStart.depth(settings.color),
            charset: Charset(variable: environmentVariable))
        try console.text(
            FormPreview(definition).text(
                columns: columns ?? Terminal.size(of: STDOUT_FILENO).columns, in: environment,
                hasStyle: console.hasColor))
        try console.flush()
    }
}
