// A command of pickerctl, and its expected result.

import SyncCore

/// A call of pickerctl.
struct StoryCommand: CustomStringConvertible {
    /// The expected result.
    struct Outcome {
        var status: Int
        /// What it prints, if the model predicts it.
        var output: String?
        /// What it prints as JSON, if the model predicts it.
        var json: JSON?
        /// Members of the JSON that it prints.
        var members: [String: JSON]?
        /// What it prints as JSON lines, if the model predicts it: the first of these lists, each in
        /// its order, with the others between its parts, and how many at most.
        var merged: (lists: [[JSON]], most: Int)?
        /// The number of lines that it prints.
        var lines: Int?

        init(
            _ status: Int, output: String? = nil, json: JSON? = nil, members: [String: JSON]? = nil,
            merged: (lists: [[JSON]], most: Int)? = nil, lines: Int? = nil
        ) {
            self.status = status
            self.output = output
            self.json = json
            self.members = members
            self.merged = merged
            self.lines = lines
        }
    }

    /// Its name in the list of `pickerctl --experimental-dump-help`.
    var name: String
    var words: [String]
    var input: String?
    /// Does it to a model, as a connection.
    var meaning: (inout StoryModel, Int) -> Outcome

    var description: String {
        "pickerctl \(words.joined(separator: " "))\(input.map { " <<< \($0)" } ?? "")"
    }
}

extension StoryCommand {
    /// The exit status for an answer (sysexits.h).
    static func status(_ answer: StoryAnswer) -> Int {
        guard case .refusal(let refusal) = answer else { return 0 }
        return switch refusal.kind {
        case "notFound": 66
        case "invalidValue", "disabled": 65
        case "conflict", "limit", "busy": 75
        case "forbidden", "approvalNeeded": 77
        // An edit without a message that it needs, or a definition that is not valid.
        case "invalidParams": refusal.field == nil ? 65 : 64
        default: 70
        }
    }

    /// A value as it is printed without its name.
    static func bare(_ value: JSON) -> String {
        switch value {
        case .null: return ""
        case .string(let text): return text
        case .bool(let flag): return flag ? "true" : "false"
        case .array(let elements):
            let texts = elements.map { bare($0) }
            return texts.contains { $0.isEmpty || $0.contains(",") || $0.hasPrefix("[") }
                ? value.encodedText : texts.joined(separator: ",")
        case .object(let object):
            if object.count == 1, let presses = object["presses"] { return bare(presses) }
            return value.encodedText
        case .number: return value.encodedText
        }
    }
}
