// What a shell offers next: the running daemon's forms, fields and options. Quick, and silent where
// no daemon runs; none is ever started for it.

internal import ArgumentParser
internal import PickerClient
internal import SyncCore

/// `pickerctl completions`.
struct CompletionsCommand: ParsableCommand {
    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    static let configuration = CommandConfiguration.leaf(
        "completions", abstract: "Print a completion script for a shell.",
        discussion: """
            bash and fish load it by itself from the folder below; zsh wants it as _pickerctl in a \
            folder of $fpath.

              bash: ~/.local/share/bash-completion/completions/pickerctl
              fish: ~/.config/fish/completions/pickerctl.fish

            Example: pickerctl completions zsh > ~/.zfunc/_pickerctl
            """)
    @OptionGroup var common: CommonOptions
    @Argument var shell: Shell

    func run() throws {
        let kind: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        let console = Console(color: .never, isQuiet: true)
        try console.text(PickerctlCommand.completionScript(for: kind) + "\n")
        try console.flush()
    }
}

/// Candidates for a word.
enum Completion {
    /// Seconds that a shell is kept waiting at most.
    private static let answerSeconds = 0.5

    /// Names of forms.
    static func forms(_ words: [String]) -> [String] {
        guard let client = client(words) else { return [] }
        return formNames(client)
    }

    /// Ids of fields, of some kinds where they are given.
    static func fields(_ words: [String], _ kinds: [FieldOutline.Kind] = []) -> [String] {
        guard let (client, form) = place(words), let outline = outline(client, form) else {
            return []
        }
        return outline.fields.filter { field in
            kinds.isEmpty ? field.kind != .label : field.kind.map(kinds.contains) ?? false
        }.map(\.id)
    }

    /// Ids of all that can be read, labels too.
    static func readable(_ words: [String]) -> [String] {
        fields(words, FieldOutline.Kind.allCases)
    }

    /// `FIELD=`, and `FIELD=VALUE` for every option once a field is named.
    static func assignments(_ words: [String]) -> [String] {
        guard let (client, form) = place(words), let outline = outline(client, form) else {
            return []
        }
        var result: [String] = []
        for field in outline.fields where field.holdsValue || field.kind == .secure {
            switch field.kind {
            case .toggle: result += ["\(field.id)=true", "\(field.id)=false"]
            case .picker:
                result += field.options.filter { !$0.isDisabled }.map {
                    "\(field.id)=\(ValueText.scalar($0.tag))"
                }
            case .wheels:
                for component in field.components {
                    result += component.options.map {
                        "\(field.id).\(component.id)=\(ValueText.scalar($0.tag))"
                    }
                }
            case .secure: result.append("\(field.id)=-")
            default: result.append("\(field.id)=")
            }
        }
        // A shell's word cannot hold what is not plain text.
        return result.filter { $0.isFreeOfControls() && !$0.contains(" ") }
    }

    // MARK: Asking

    private static func client(_ words: [String]) -> BlockingClient? {
        var options = BlockingClient.Options(client: "pickerctl/\(Version.current)")
        options.socket = value(of: "--socket", in: words)
        options.autostart = false
        options.answerSeconds = answerSeconds
        return BlockingClient(options)
    }

    private static func place(_ words: [String]) -> (BlockingClient, form: String)? {
        guard let client = client(words) else { return nil }
        let prefix = words.dropFirst().compactMap { FieldName($0).form }.last
        let named =
            value(of: "--form", in: words) ?? environmentVariable("PICKERSYNC_FORM") ?? prefix
        if let named { return (client, named) }
        let forms = formNames(client)
        return forms.count == 1 ? (client, forms[0]) : nil
    }

    private static func value(of option: String, in words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if word == option, index + 1 < words.count { return words[index + 1] }
            if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
        }
        return nil
    }

    private static func formNames(_ client: BlockingClient) -> [String] {
        guard let answer = try? client.call(.formList), let list = try? FormList(decoding: answer)
        else { return [] }
        return list.forms.map(\.form)
    }

    private static func outline(_ client: BlockingClient, _ form: String) -> FormOutline? {
        guard let answer = try? client.call(.formGet(form: form)),
            let result = try? FormResult(decoding: answer)
        else { return nil }
        return FormOutline(result.definition)
    }
}
