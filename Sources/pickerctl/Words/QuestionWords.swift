// What commands ask on a terminal before they do what cannot be taken back.

internal import SyncCore

/// Questions with yes or no.
enum QuestionWords {
    static func apply(_ file: String, to form: String) -> String {
        "apply \(file) to form \(form)?"
    }

    /// The fields lose their values by it.
    static func apply(_ file: String, to form: String, losing fields: [String]) -> String {
        "\(apply(file, to: form)) It would lose the values of \(LiveWords.list(fields))"
    }

    static func delete(_ form: String) -> String {
        "delete form \(form) with its values and its history?"
    }

    static func overwriteMessage(of revision: Revision, _ form: String) -> String {
        "overwrite the message of revision \(revision) of \(form)? It cannot be read again"
    }

    static func approve(_ proposal: String) -> String { "approve \(proposal)?" }
}
