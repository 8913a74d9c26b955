// The options of a picker, or the rows of one wheel.
//
// Invariants: there is at least one option. Tags have one JSON type and are distinct (strings by
// canonical equivalence). The cost of a look-up does not depend on the number of options.

/// One option of a picker or row of a wheel.
public struct PickerOption: Hashable, Sendable {
    /// The stored value: a string, an integer or a boolean.
    public var tag: JSON
    /// The text that is shown.
    public var label: String
    public var subtitle: String?
    /// An icon: one grapheme cluster.
    public var symbol: String?
    /// The symbol in words, for screen readers.
    public var symbolName: String?
    public var tint: Tint?
    /// Shown, but it cannot be picked.
    public var isDisabled = false

    /// An option with this label, or else with a label made from its tag.
    public init(tag: JSON, label: String? = nil) {
        self.tag = tag
        self.label = label ?? Self.label(for: tag)
    }

    /// The label of an option that is only a tag: `chocolate` becomes Chocolate.
    ///
    /// Only a tag of plain lower-case words is capitalized. `eu-west-1`, `sda1` and `feature/x` are
    /// names, and `Eu-west-1` would be wrong.
    public static func label(for tag: JSON) -> String {
        switch tag {
        case .string(let text):
            let isWords = text.unicodeScalars.allSatisfy {
                $0 == " " || ($0.properties.isAlphabetic && !$0.properties.isUppercase)
            }
            guard isWords, let first = text.first else { return text }
            let capital = first.uppercased()
            return (capital.count == 1 ? capital : String(first)) + text.dropFirst()
        case .number(let number): return number.description
        case .bool(let flag): return flag ? "True" : "False"
        default: return ""
        }
    }
}

/// The type of all tags of one picker.
public enum TagType: Hashable, Sendable {
    case string, integer, boolean

    /// The type of `tag`; `nil` if it cannot be a tag.
    public init?(of tag: JSON) {
        switch tag {
        case .string: self = .string
        case .number(let number) where number.integer != nil: self = .integer
        case .bool: self = .boolean
        default: return nil
        }
    }

    /// In words: `a string`, …
    public var inWords: String {
        switch self {
        case .string: "a string"
        case .integer: "an integer"
        case .boolean: "a boolean"
        }
    }
}

/// A group of adjacent options.
public struct OptionGroup: Hashable, Sendable {
    /// The group's title; `nil` for options outside any group.
    public var title: String?
    /// The options' indexes.
    public var range: Range<Int>

    /// A group of the options in `range`.
    public init(title: String?, range: Range<Int>) {
        self.title = title
        self.range = range
    }
}

/// The options of a picker in order, with look-up by tag.
public final class OptionList: Sendable {
    /// The options in the order written, including those in groups.
    public let options: [PickerOption]
    /// The groups in order. Without groups, there is one without a title.
    public let groups: [OptionGroup]
    /// The type of the tags.
    public let tagType: TagType
    /// The indexes of the options that can be picked, ascending.
    let enabled: [Int]
    // String equality is canonical equivalence, which is what FORM.md requires for tags.
    private let strings: [String: Int]
    private let integers: [Int64: Int]

    /// A list of `options`, which are not empty and whose tags are distinct and of one type.
    ///
    /// - Parameters:
    ///   - strings: the place of each tag that is a string.
    ///   - integers: the place of each tag that is an integer, or 0 for false and 1 for true.
    init(
        options: [PickerOption], groups: [OptionGroup], strings: [String: Int],
        integers: [Int64: Int]
    ) {
        precondition(!options.isEmpty, "a picker has at least one option")
        self.options = options
        self.groups = groups
        tagType = TagType(of: options[0].tag) ?? .string
        self.strings = strings
        self.integers = integers
        enabled = options.indices.filter { !options[$0].isDisabled }
    }

    /// The number of options.
    public var count: Int { options.count }

    /// The index of the option with `tag`; `nil` if there is none.
    public func index(of tag: JSON) -> Int? {
        switch (tag, tagType) {
        case (.string(let text), .string): strings[text]
        case (.number(let number), .integer): number.integer.flatMap { integers[$0] }
        case (.bool(let flag), .boolean): integers[flag ? 1 : 0]
        default: nil
        }
    }

    /// The option with `tag`.
    public subscript(tag: JSON) -> PickerOption? {
        index(of: tag).map { options[$0] }
    }

    /// The index of the first option that can be picked, or 0 if none can.
    public var firstEnabled: Int { enabled.first ?? 0 }
}
