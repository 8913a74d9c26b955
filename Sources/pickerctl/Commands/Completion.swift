// Shell completion: the running daemon's forms, fields and options. It is fast, and silent if no
// daemon runs; it does not start one.
//
// Invariant: each candidate is a plain word. bash's `compgen -W` expands candidates, commands in
// `$(...)` included, and the tags of options and the names of files may be somebody else's.

internal import ArgumentParser
internal import Glibc
internal import PickerClient
internal import SyncCore

/// `pickerctl completions`.
struct CompletionsCommand: ParsableCommand {
    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    static let configuration = CommandConfiguration.leaf(
        "completions", abstract: "Print a completion script for a shell.",
        discussion: """
            bash and fish load it from the path below; for zsh, save it as _pickerctl in a folder \
            of $fpath.

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
    /// The longest time (seconds) that a shell has to wait.
    private static let answerSeconds = 0.5

    /// Names of forms.
    static func forms(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        client(words).formNames.filter(isPlainWord)
    }

    /// Names of forms, and form files in the folder of the word.
    static func formsAndFiles(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        forms(words, index, prefix) + files(prefix)
    }

    /// Ids of all fields except labels, with `FORM/` if that chooses the form.
    static func fields(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        candidates(words, prefix) { $0.kind == .label ? [] : [$0.id] }
    }

    /// Ids of fields of some kinds.
    static func fields(
        _ words: [String], _ index: Int, _ prefix: String, _ kinds: Set<FieldOutline.Kind>
    ) -> [String] {
        candidates(words, prefix) { $0.kind.map(kinds.contains) ?? false ? [$0.id] : [] }
    }

    /// Ids of all fields, including labels.
    static func readable(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        candidates(words, prefix) { [$0.id] }
    }

    /// `FIELD=`, and `FIELD=VALUE` for every option.
    static func assignments(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        candidates(words, prefix, assignments)
    }

    /// Names of proposals that wait: `deploy/12`.
    static func proposals(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        guard let answer = try? client(words).call(.proposalList(ProposalList())),
            let list = try? ProposalListResult(decoding: answer)
        else { return [] }
        return (list.proposals + list.others).map(\.name).filter(isPlainWord)
    }

    /// Whether no shell reads anything but a word in this: letters and digits of all scripts, and
    /// some marks.
    static func isPlainWord(_ text: String) -> Bool {
        text.first != "-"
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9": true
                case "-", "_", ".", "/", ":", "=", "@", ",", "+", "%": true
                default: !scalar.isASCII && !SafeText.isHarmful(scalar) && isLetter(scalar)
                }
            }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber, .nonspacingMark, .spacingMark:
            true
        default: false
        }
    }

    private static func assignments(_ field: FieldOutline) -> [String] {
        guard field.holdsValue || field.kind == .secure else { return [] }
        switch field.kind {
        case .toggle: return ["\(field.id)=true", "\(field.id)=false"]
        case .picker:
            return field.options.filter { !$0.isDisabled }.map {
                "\(field.id)=\(ValueText.scalar($0.tag))"
            }
        case .wheels:
            return field.components.flatMap { component in
                component.options.map {
                    "\(field.id).\(component.id)=\(ValueText.scalar($0.tag))"
                }
            }
        case .secure: return ["\(field.id)=-"]
        default: return ["\(field.id)="]
        }
    }

    // MARK: The word

    /// The results of `texts` for each control of the form that the command line chooses; if it
    /// chooses none, the names of forms with a slash.
    private static func candidates(
        _ words: [String], _ prefix: String, _ texts: (FieldOutline) -> [String]
    ) -> [String] {
        let client = client(words)
        if let form = FieldName(prefix).form {
            return self.texts(of: form, client, texts).map { "\(form)/\($0)" }
                .filter(isPlainWord)
        }
        let chosen =
            value(of: ["--form", "-f"], in: words) ?? environmentVariable("PICKERSYNC_FORM")
        let names = chosen.map { [$0] } ?? client.formNames
        if names.count == 1 {
            return self.texts(of: names[0], client, texts).filter(isPlainWord)
        }
        // If only one form has the prefix, the word continues with its fields: a shell adds a space
        // after a complete word.
        let near = names.filter { $0.hasPrefix(prefix) && isPlainWord($0) }
        guard near.count == 1 else { return near.map { $0 + "/" } }
        let inside = self.texts(of: near[0], client, texts).map { "\(near[0])/\($0)" }
        return [near[0] + "/"] + inside.filter(isPlainWord)
    }

    private static func texts(
        of form: String, _ client: BlockingClient, _ texts: (FieldOutline) -> [String]
    ) -> [String] {
        guard let answer = try? client.call(.formGet(form: form)),
            let result = try? FormResult(decoding: answer)
        else { return [] }
        return FormOutline(result.definition).fields.flatMap(texts)
    }

    /// Folders and form files with the prefix: opendir(3).
    private static func files(_ prefix: String) -> [String] {
        let slash = prefix.lastIndex(of: "/")
        let folder = slash.map { String(prefix[...$0]) } ?? ""
        guard let directory = opendir(folder.isEmpty ? "." : folder) else { return [] }
        defer { closedir(directory) }
        var found: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let path = folder + name
            guard !name.hasPrefix("."), path.hasPrefix(prefix), isPlainWord(path) else { continue }
            if FileFacts.at(path)?.kind == .directory {
                found.append(path + "/")
            } else if [".yaml", ".yml", ".json"].contains(where: name.hasSuffix) {
                found.append(path)
            }
        }
        return found.sorted()
    }

    // MARK: The daemon

    private static func client(_ words: [String]) -> BlockingClient {
        var options = BlockingClient.Options(client: "pickerctl/\(Version.current)")
        options.socket = value(of: ["--socket"], in: words)
        options.autostart = false
        options.answerSeconds = answerSeconds
        return BlockingClient(options)
    }

    private static func value(of names: [String], in words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if names.contains(word), index + 1 < words.count { return words[index + 1] }
            for name in names where word.hasPrefix(name + "=") {
                return String(word.dropFirst(name.count + 1))
            }
        }
        return nil
    }
}

extension BlockingClient {
    /// The daemon's forms; empty if it does not answer.
    fileprivate var formNames: [String] {
        guard let answer = try? call(.formList), let list = try? FormList(decoding: answer)
        else { return [] }
        return list.forms.map(\.form)
    }
}
