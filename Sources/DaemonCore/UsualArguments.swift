// Parses the usual command lines without the full argument parser.
//
// Invariants: the result is the same as that of the full parser; anything else (`--option=value`,
// `--help`, a mistake) is left to the full parser, which reports errors. The reason is the start
// time: creating the tables of the full parser is expensive.

/// Only options that are each followed by their value.
public struct UsualArguments: Sendable {
    /// Each option with its values, for `ConfigurationSources.flags`.
    public private(set) var flags: [(option: ConfigurationOption, values: [String])] = []
    /// `--config`.
    public private(set) var file: String?

    /// Parses the arguments after the program's name; `nil` if the full parser must parse them.
    public init?(_ arguments: [String]) {
        var left = arguments[...]
        while let flag = left.popFirst() {
            guard let value = left.popFirst(), !value.hasPrefix("-") else { return nil }
            if flag == "--config", file == nil {
                file = value
                continue
            }
            guard let option = ConfigurationOption.allCases.first(where: { $0.flag == flag }) else {
                return nil
            }
            guard let place = flags.firstIndex(where: { $0.option == option }) else {
                flags.append((option, [value]))
                continue
            }
            // The full parser decides what it means if an option that is not a list is given twice.
            guard [.forms, .limits, .link].contains(option) else { return nil }
            flags[place].values.append(value)
        }
    }
}
