// The command lines that units and people write, read without the parser of all the others.
//
// Always holds: what is read here means what the parser would have made of it; whatever is not
// plainly of this form (`--option=value`, `--help`, a mistake) is left to the parser, which says
// what is wrong. Why: making the parser's tables took half of the instructions of a start.

/// Options that each have their value behind them, and nothing else.
public struct UsualArguments: Sendable {
    /// Each option with its values, as `ConfigurationSources.flags` wants them.
    public private(set) var flags: [(option: ConfigurationOption, values: [String])] = []
    /// `--config`.
    public private(set) var file: String?

    /// Reads the arguments behind the program's name; `nil` where they are for the parser.
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
            // The parser decides what an option means that is no list and comes twice.
            guard option == .forms || option == .limits else { return nil }
            flags[place].values.append(value)
        }
    }
}
