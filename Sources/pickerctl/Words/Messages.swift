// The messages of commands in one place, so that each situation has one wording.
//
// Each says what is wrong and what to do, in the words of git and kubectl.

internal import FormFile
internal import SyncCore

// MARK: - Names

extension Failure {
    /// An unknown command; `path` is its group, if any.
    static func noCommand(_ word: String, in path: [String], among names: [String]) -> Failure {
        let prefix = path.map { $0 + " " }.joined()
        let near = Similar.names(to: word, among: names).map { prefix + $0 }
        let step =
            near.isEmpty ? "see pickerctl \(prefix)--help" : Wording.didYouMean(near)
        return .usage("no command \"\(prefix)\(word)\"; \(step)")
    }

    /// No control has this id.
    static func noField(_ id: String, _ form: String, among ids: [String]) -> Failure {
        let near = Similar.names(to: id, among: ids)
        let step =
            if id == form { "it is the form: write \(form)/FIELD, or -f \(form)" } else {
                near.isEmpty ? "see pickerctl describe \(form)/" : Wording.didYouMean(near)
            }
        return Failure(.noInput, "no field \"\(id)\" in form \(form); \(step)")
    }

    /// A pattern matches no field that the command can use.
    static func noMatch(_ pattern: String, _ form: String) -> Failure {
        Failure(
            .noInput, "no field of form \(form) matches \(pattern); see pickerctl describe \(form)/"
        )
    }

    /// The control does not have the named component.
    static func noComponent(_ name: String, _ field: String, among ids: [String]) -> Failure {
        let near = Similar.names(to: name, among: ids)
        let step =
            near.isEmpty
            ? "choose \(Wording.alternatives(ids))" : Wording.didYouMean(near)
        return Failure(.noInput, "no component \"\(name)\" in \(field); \(step)")
    }

    /// A component of a control that is not wheels.
    static func noComponents(_ field: String, write: String) -> Failure {
        .usage("\(field) has no components; write \(write)")
    }

    /// The daemon has no form.
    static let noForms = Failure(
        .noInput, "the daemon has no form; apply one with pickerctl form apply FILE")

    /// There are several forms, and none was named.
    static func whichForm(_ names: [String]) -> Failure {
        let shown = names.prefix(8)
        let list =
            names.count > shown.count
            ? shown.joined(separator: ", ") + ", …" : Wording.alternatives(Array(shown))
        return .usage("which form? choose \(list) with -f, or set PICKERSYNC_FORM")
    }

    static func twoForms(_ first: String, _ second: String) -> Failure {
        .usage(
            "one command works on one form, not on \(first) and \(second); run it once for each"
        )
    }

    /// A form was named instead of a field.
    static func needsField(_ form: String, _ verb: String) -> Failure {
        .usage("\(form) is a form, not a field; write pickerctl \(verb) \(form)/FIELD")
    }
}

// MARK: - Values

extension Failure {
    /// A text that the control does not accept.
    static func notValue(_ text: String, of field: FieldOutline, _ expected: String) -> Failure {
        Failure(
            .data,
            Wording.refusal("\"\(text)\" is not a value of \(field.id)", expected: expected))
    }

    /// A tag that the picker does not have.
    static func notOption(_ text: String, _ names: [String]) -> Failure {
        let near = Similar.names(to: text, among: names)
        let shown = names.prefix(12)
        let list =
            names.count > shown.count
            ? shown.joined(separator: ", ") + " or \(names.count - shown.count) more"
            : Wording.alternatives(names)
        let step =
            !near.isEmpty
            ? Wording.didYouMean(near)
            : names.isEmpty ? "the picker has no options" : "choose \(list)"
        return Failure(.data, "\"\(text)\" is not an option; \(step)")
    }

    /// A control that cannot be plotted, because its values are neither numbers nor single names.
    static func notPlottable(_ field: FieldOutline) -> Failure {
        .usage(
            "cannot plot \(field.id), which is \(field.withArticle); choose a slider, stepper, "
                + "gauge, toggle or a picker with one choice")
    }

    /// A control that a verb does not apply to.
    static func wrongKind(_ field: FieldOutline, _ verb: String, _ step: String) -> Failure {
        .usage("cannot \(verb) \(field.id), which is \(field.withArticle); \(step)")
    }

    static func isButton(_ id: String, name: String) -> Failure {
        .usage("\(id) is a button; press it with pickerctl press \(name)")
    }

    static func isLabel(_ id: String) -> Failure {
        .usage("\(id) is a label, which holds no value")
    }

    /// A secret in an argument, where other users can read it.
    static func secretInArguments(_ id: String) -> Failure {
        .usage(
            "\(id) is secret, and other users can read a command line; write \(id)=- to read "
                + "standard input, or \(id)=@FILE")
    }

    static func secretIsNotCompared(_ id: String) -> Failure {
        .usage("\(id) is secret and cannot be compared; choose another field")
    }

    static func notToken(_ option: String, _ why: String) -> Failure {
        .usage("\(option) is not a token (\(why)); copy one from pickerctl get --context")
    }

    /// An argument that is not `FIELD=VALUE`; `words` are it and all after it.
    static func notAssignment(_ words: ArraySlice<String>, verb: String) -> Failure {
        guard var name = words.first else {
            return .usage(UsageWords.nothing(to: verb, write: "pickerctl \(verb) FIELD=VALUE"))
        }
        if let equals = name.firstIndex(of: "="), equals != name.indices.last {
            return .usage("\"\(name)\" has no field; write pickerctl \(verb) FIELD=VALUE")
        }
        if name.hasSuffix("=") { name.removeLast() }
        let next = words.dropFirst().prefix { Assignment($0) == nil }
        let value = next.first == "=" ? next.dropFirst() : next
        guard let first = value.first else {
            // `open deploy` and `get deploy` begin with a form; people try the same with `set`.
            let isForm = words.count > 1 && words.first == name
            return isForm
                ? .usage(
                    "\(name) has no value; if it is the form, write pickerctl \(verb) -f \(name) "
                        + words.dropFirst().map(ValueText.shellWord).joined(separator: " "))
                : .usage("\(name) has no value; write pickerctl \(verb) \(name)=VALUE")
        }
        let signs = ["+=", "-=", "=", ":="]
        let isSigned = signs.contains { first.hasPrefix($0) }
        let text = value.joined(separator: " ")
        let written = ValueText.shellWord(text)
        let sign = isSigned ? "" : "="
        return .usage("no value for \(name); did you mean \(name)\(sign)\(written)?")
    }
}

// MARK: - Files and questions

extension Failure {
    /// An error in a file; if the place is known, in the format that editors parse.
    static func file(_ status: ExitStatus, _ issue: FileIssue) -> Failure {
        var failure = Failure(status, "\(issue)")
        failure.beginsWithPlace = issue.position != nil
        return failure
    }

    static func existsAlready(_ path: String, _ status: ExitStatus) -> Failure {
        Failure(status, "\(path) exists already; remove it, or choose another name")
    }

    /// A question without a terminal.
    static let noTerminal = Failure(.notMet, "no terminal to confirm on; use --yes")

    /// A button whose question was answered with no.
    static func notPressed(_ id: String) -> Failure { Failure(.notMet, "\(id) was not pressed") }

    /// A question that was answered with no.
    static func unchanged(_ what: String) -> Failure {
        Failure(.notMet, "\(what) is unchanged")
    }

    static func formDeleted(_ form: String) -> Failure {
        Failure(.noInput, "form \(form) was deleted")
    }
}

extension FieldOutline {
    /// The type with its article, for a sentence.
    var withArticle: String {
        let type = json["type"]?.stringValue ?? "control"
        return ControlType(rawValue: type)?.withArticle ?? "a \(type)"
    }
}
