// A command of pickerctl, and what has to come of it.

import SyncCore

/// One call of pickerctl.
struct StoryCommand: CustomStringConvertible {
    /// What has to come of it.
    struct Outcome {
        var status: Int
        /// What it prints, where that is foretold.
        var output: String?
        /// What it prints as JSON, where that is foretold.
        var json: JSON?
        /// Members of the JSON that it prints.
        var members: [String: JSON]?
        /// What it prints as JSON, one value a line, where that is foretold.
        var jsonLines: [JSON]?
        /// Lines that it prints.
        var lines: Int?

        init(
            _ status: Int, output: String? = nil, json: JSON? = nil, members: [String: JSON]? = nil,
            jsonLines: [JSON]? = nil, lines: Int? = nil
        ) {
            self.status = status
            self.output = output
            self.json = json
            self.members = members
            self.jsonLines = jsonLines
            self.lines = lines
        }
    }

    /// How commands are called in the list that `pickerctl --experimental-dump-help` gives.
    var name: String
    var words: [String]
    var input: String?
    /// What it does to the product, asked by the connection given.
    var meaning: (inout StoryModel, Int) -> Outcome

    var description: String {
        "pickerctl \(words.joined(separator: " "))\(input.map { " <<< \($0)" } ?? "")"
    }
}

extension StoryCommand {
    /// The exit status that says what a request was answered with (sysexits.h).
    static func status(_ answer: StoryAnswer) -> Int {
        guard case .refusal(let refusal) = answer else { return 0 }
        return switch refusal.kind {
        case "notFound": 66
        case "invalidValue", "disabled": 65
        case "conflict", "limit": 75
        case "forbidden": 77
        // A definition that is none.
        case "invalidParams": 65
        default: 70
        }
    }

    /// A value as it is printed alone.
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
