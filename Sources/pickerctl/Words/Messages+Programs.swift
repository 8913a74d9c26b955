// Messages about the daemon, files, and programs that commands run.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

// MARK: - The daemon

extension Failure {
    /// The daemon sent what this program cannot use.
    static func versions(_ what: String) -> Failure {
        Failure(
            .unavailable,
            "\(what); install a pickerctl and a pickersyncd of one version")
    }

    /// The daemon's answer cannot be read.
    static func invalidAnswer(_ error: DecodeError) -> Failure {
        .versions("the daemon's answer is not valid (\(error))")
    }

    static let unknownForm = versions("the daemon's form cannot be shown")

    static func endlessHistory(at revision: Revision) -> Failure {
        .versions("the daemon's history does not go back at revision \(revision)")
    }

    static func unknownFeature(_ feature: String) -> Failure {
        Failure(.unavailable, "this daemon does not know \(feature); upgrade it")
    }

    static let noAnswer = Failure(.unavailable, LiveWords.noAnswer)
    static let notBack = Failure(
        .unavailable, "the daemon went away and is not back; see pickerctl doctor")
    static let noName = Failure(
        .unavailable, "the daemon did not name this connection; see pickerctl doctor")
    static let wrongPiece = Failure(.software, "the daemon sent another piece than was requested")
    static let notLinked = Failure(
        .notMet, "the daemon is not linked to others; see link: in pickersyncd.yaml(5)")
    static func linkTest(_ failed: String?) -> Failure {
        Failure(.notMet, failed ?? "the link went down meanwhile")
    }
}

// MARK: - What a form has, and what became of an edit

extension Failure {
    static func isReadOnly(_ id: String) -> Failure { Failure(.data, LiveWords.isReadOnly(id)) }

    static func isDisabled(_ id: String) -> Failure {
        Failure(.data, "\(id) is \(ControlWords.disabled); see pickerctl describe \(id)")
    }

    static func hasNoValue(_ id: String) -> Failure {
        Failure(.notMet, "\(id) has no value; use pickerctl set")
    }

    static func missing(_ ids: [String]) -> Failure {
        Failure(.notMet, "required and empty: \(ids.joined(separator: ", "))")
    }

    static func hasNoConflict(_ id: String) -> Failure {
        Failure(
            .notMet, "\(id) has no conflict; see pickerctl conflicts, or use pickerctl set")
    }

    static func hasNotEnded(_ id: String, name: String) -> Failure {
        Failure(.timedOut, "\(id) has not ended yet; see pickerctl get \(name)")
    }

    static func needsApproval(_ why: String, _ command: String) -> Failure {
        Failure(.noPermission, "\(why): \(command)")
    }

    static func notApproved(_ proposal: String) -> Failure {
        Failure(.notMet, "\(proposal) is not approved")
    }

    static func proposalIsGone(_ proposal: String) -> Failure {
        Failure(.noInput, "\(proposal) is gone; see pickerctl history")
    }

    static func notInPreset(_ field: FieldOutline, _ id: String, _ file: String) -> Failure {
        Failure(
            .data,
            "a preset cannot set \(id), which is \(field.withArticle); remove it from \(file)")
    }

    static let noOptions = Failure(.data, "no option given; a picker needs at least one")
    static let noTag = Failure(.data, "an option has no tag; write TAG or TAG=LABEL")

    static func manyErrors(_ count: Int, in name: String) -> Failure {
        Failure(.data, "\(name) has \(count) errors; nothing was applied")
    }
}

// MARK: - Files and programs

extension Failure {
    /// What the system says about a file, a stream or a program.
    static func system(_ status: ExitStatus, _ name: String, _ code: Int32) -> Failure {
        Failure(status, "\(name): \(describe(errno: code))")
    }

    static func tooLong(_ name: String, bytesMax: Int) -> Failure {
        Failure(.data, "\(name) has more than \(bytesMax) bytes")
    }

    static func notText(_ name: String) -> Failure { Failure(.data, "\(name) is not UTF-8 text") }

    static func noValues(_ name: String, expected: String) -> Failure {
        Failure(.data, "\(name) has no values; expected \(expected)")
    }

    /// A file that cannot be written; `step` is what helps.
    static func notWritten(_ name: String, _ code: Int32, _ step: String) -> Failure {
        Failure(.data, "\(name) cannot be written: \(describe(errno: code)); \(step)")
    }

    static func noCommandFile(_ name: String) -> Failure {
        let place = name.contains("/") ? "does not exist" : "is not in PATH"
        return Failure(.noInput, "\(name) \(place); choose a command that exists")
    }

    static func notExecutable(_ path: String) -> Failure {
        Failure(.noPermission, "\(path) is not executable; use chmod +x, or choose another")
    }

    static func notStarted(_ name: String) -> Failure {
        Failure(.notStarted, "\(name) cannot be started; choose a command that exists")
    }

    // MARK: Imports

    static func notForm(_ place: String, _ issue: String?) -> Failure {
        Failure(.data, "the import is not a valid form: \(place)\(issue ?? "too large")")
    }

    static let noHelpers = Failure(
        .data,
        "the file has no helpers; expected "
            + Wording.alternatives(HomeAssistantHelper.allCases.map(\.rawValue)))

    static func noSchema(_ name: String) -> Failure {
        Failure(
            .noInput,
            "no schema \"\(name)\" is installed; see gsettings list-schemas, or name a "
                + ".gschema.xml file")
    }

    static func noSchemas(_ path: String) -> Failure {
        Failure(.data, "\(path) has no settings schemas; expected <schemalist>")
    }

    static let noKey = Failure(.data, "the schema has no key that a control can hold")
}
