// Forms to begin with: a commented one, and one made of what people have.

internal import ArgumentParser
internal import FormFile
internal import Glibc
internal import SyncCore

/// `pickerctl form new`: a form file to be edited.
struct FormNewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Write a commented form file to begin with.",
        discussion: """
            FILE must not be there yet; without one the form goes to standard output.

            Example: pickerctl form new deploy.yaml && $EDITOR deploy.yaml
            """)
    @OptionGroup var common: CommonOptions
    @Argument(help: "Where to write it.", completion: .file()) var file: String?

    func run() throws {
        let console = Console(color: .never, isQuiet: common.quiet)
        guard let file, file != "-" else {
            try console.text(Self.text(named: common.form ?? "my-form"))
            return try console.flush()
        }
        let base = file.split(separator: "/").last.map(String.init) ?? file
        let stem = base.split(separator: ".").first.map(String.init) ?? base
        let name = common.form ?? FormImport.formName(stem)
        try Self.write(Self.text(named: name), to: file)
        console.note("\(file) is written; pickerctl form apply \(file) makes it a form")
    }

    /// Writes a file that is not there yet: open(2) with O_EXCL.
    static func write(_ text: String, to path: String) throws(Failure) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else {
            guard errno == EEXIST else {
                throw Failure(.notMet, "\(path): \(String(cString: strerror(errno)))")
            }
            throw Failure(.notMet, "\(path) is there already; choose another name, or remove it")
        }
        defer { close(file) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else {
                throw Failure(.notMet, "\(path): \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(count)
        }
    }

    static func text(named name: String) -> String {
        """
        # A form for PickerSync. Check it with  pickerctl form check FILE,
        # make it one of the daemon's with  pickerctl form apply FILE.
        form: \(name)                    # a-z, 0-9 and -
        title: My form
        sections:
          - title: Choices
            fields:
              - id: flavor               # how scripts call it: pickerctl set flavor=vanilla
                type: picker             # picker, wheels, toggle, slider, stepper, date, text,
                                         # secure, gauge, button, label
                label: Flavor            # what people read
                subtitle: Choose your favorite flavor
                options: [chocolate, vanilla, strawberry]
                default: vanilla
              - id: scoops
                type: stepper
                label: Scoops
                min: 1
                max: 5
                default: 2
              - id: cone
                type: toggle
                label: In a cone
                default: true
          - title: Order
            fields:
              - id: note
                type: text
                label: Note
                prompt: Anything else?
              - id: order
                type: button
                label: Order
                enabledWhen: {cone: true}
              - id: summary
                type: label
                text: "${scoops} x ${flavor}"
        # Who may (the default: anyone who can connect):
        # access: {write: ["group:staff"], admin: [owner]}

        """
    }
}

/// `pickerctl form import`: a form made of values, of an environment file or of Home Assistant's
/// helpers.
struct FormImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Make a form file of values that there are already.",
        discussion: """
            FILE is YAML or JSON with names and values (groups become sections), NAME=VALUE lines \
            as in an .env file, or Home Assistant's input_boolean, input_select, input_number, \
            input_text, input_datetime and input_button; - is standard input. Types are guessed: \
            read the result before it is applied.

            Example: pickerctl form import settings.json > settings.yaml
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .file()) var file: String

    func run() throws {
        let console = Console(color: .never, isQuiet: common.quiet)
        let base = file == "-" ? "imported" : file.split(separator: "/").last.map(String.init)
        let stem = base?.split(separator: ".").first.map(String.init)
        let form = common.form ?? FormImport.formName(stem ?? "imported")
        let tree = try FormImport.variables(file) ?? PresetFile.read(file)
        guard case .object(let object) = tree, !object.isEmpty else {
            throw Failure(
                .data,
                "\(file == "-" ? "standard input" : file) has no names with values; expected "
                    + "NAME: VALUE or NAME=VALUE")
        }
        var maker = FormImport()
        let definition = maker.definition(form, object)
        // What the daemon would refuse is not handed out as a form.
        do throws(FormIssues) {
            _ = try FormDefinition.parse(
                definition, limits: FormLimits(), compile: RegularExpression.compiler)
        } catch {
            let issue = error.issues.first
            throw Failure(
                .data, "no form comes of it: \(issue?.message ?? "it has too much in it")")
        }
        for name in maker.leftOut {
            console.note("\(name) is left out: no control holds it, or its name is taken")
        }
        try console.text(YAMLWriter.text(of: definition))
        try console.flush()
    }
}
