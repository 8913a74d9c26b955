// A form to start with, with comments. An editor with a YAML language server completes it.

internal import ArgumentParser
internal import FormFile
internal import Glibc
internal import SyncCore

/// `pickerctl form new`: creates a form file.
struct FormNewCommand: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        "new", abstract: "Write a commented form file to start from.",
        discussion: """
            FILE must not exist yet; without FILE the form goes to standard output.

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
        console.note("wrote \(file); edit it, then run pickerctl form apply \(file)")
    }

    /// Creates a file: open(2) with O_EXCL.
    static func write(_ text: String, to path: String) throws(Failure) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else {
            guard errno == EEXIST else {
                throw .system(.notMet, path, errno)
            }
            throw .existsAlready(path, .notMet)
        }
        defer { close(file) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else {
                throw .system(.notMet, path, errno)
            }
            rest = rest.dropFirst(count)
        }
    }

    static func text(named name: String) -> String {
        """
        # yaml-language-server: $schema=\(FormSchema.location)
        # The line above makes an editor complete and check this file. Check it yourself with
        #     pickerctl form check FILE
        # and make it one of the daemon's with
        #     pickerctl form apply FILE
        form: \(name)              # its name: a-z, 0-9 and -
        title: My form
        # subtitle: a second, smaller text
        # styles: {picker: segmented}   # a style for every picker below; sections may have it too

        # Who may. The default: read, write and press by anyone who can connect, the rest by the
        # owner. Principals: anyone, owner, user:NAME, group:NAME, uid:N, gid:N.
        # access: {write: ["group:staff"], press: [anyone], reveal: [owner], admin: [owner]}

        sections:
          - title: Choices
            fields:
              - id: flavor                # how scripts call it: pickerctl set flavor=vanilla
                type: picker              # picker, wheels, toggle, slider, stepper, date, text,
                                          # secure, gauge, button, label
                label: Flavor             # what people read
                subtitle: Choose your favorite flavor
                options: [chocolate, vanilla, strawberry]
                # or: options: [{tag: v, label: Vanilla, subtitle: the classic, tint: yellow}]
                default: vanilla
                # style: menu             # inline, menu, navigationLink, palette, radioGroup,
                                          # segmented, wheel; automatic chooses
                # multiple: true          # several at once
                # onConflict: ask         # latest (the newest wins), ask (keep both), first
              - id: scoops
                type: stepper
                label: Scoops
                min: 1
                max: 5
                default: 2
                format: "${value} scoops"
              - id: sweetness
                type: slider
                label: Sweetness
                min: 0
                max: 100
                step: 5
              - id: cone
                type: toggle
                label: In a cone
                default: true

          - title: Order
            # visibleWhen: {flavor: {not: chocolate}}   # a section may be hidden as well
            fields:
              - id: pickup
                type: date
                label: Picked up at
                mode: time                # date, time, dateAndTime, countdown, yearAndMonth
                minuteInterval: 15
                enabledWhen: {cone: false}
              - id: note
                type: text
                label: Note
                prompt: Anything else?
                maxLength: 80
                # pattern: '[A-Z].*'      # a regular expression that the whole text must match
                # required: true
              # - id: token
              #   type: secure            # read by nobody but those who may reveal it
              - id: order
                type: button
                label: Order
                enabledWhen: {scoops: {atLeast: 1}}
                # role: destructive
                # confirm: Really?
              - id: summary
                type: label
                text: "${scoops} x ${flavor}"

        """
    }
}

/// The location of the JSON Schema of form files, for editors.
enum FormSchema {
    /// The installed file: PREFIX/share of the executable, then the usual places; readlink(2) on
    /// /proc/self/exe.
    static var location: String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let executable = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        let prefix = executable.split(separator: "/").dropLast(2).joined(separator: "/")
        let beside = "/\(prefix)/share/pickersync/schema/form.schema.json"
        let known = [beside, "/usr/share/pickersync/schema/form.schema.json"]
        return known.first { access($0, R_OK) == 0 } ?? known[1]
    }
}
