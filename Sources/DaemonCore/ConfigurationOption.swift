internal import FormFile
public import SyncCore

// The table of the daemon's options: name in the file and as a flag, environment variable, allowed
// values. Invariants: the same function parses a value from all three sources, so all accept the
// same values.

/// An option that the file, the environment and the flags know.
public enum ConfigurationOption: String, Sendable, Hashable, CaseIterable {
    case socket
    case stateDirectory = "state-directory"
    case durability
    case group
    case forms
    case idleExit = "idle-exit"
    case logLevel = "log-level"
    case limits
    case link

    /// `PICKERSYNC_STATE_DIRECTORY` for `state-directory`.
    public var variable: String {
        "PICKERSYNC_" + rawValue.uppercased().split(separator: "-").joined(separator: "_")
    }

    /// The flag; lists are given by repeating one flag for each element.
    public var flag: String {
        switch self {
        case .forms: "--form"
        case .limits: "--limit"
        default: "--" + rawValue
        }
    }

    /// The format of a value, in words.
    public var expected: String {
        switch self {
        case .socket: "a path of at most 107 bytes"
        case .stateDirectory: "the path of a directory"
        case .durability: Wording.oneOf(Durability.allCases.map(\.rawValue))
        case .group: "the name or the number of a group"
        case .forms: "paths of form files"
        case .idleExit: "whole seconds, such as 600 or 10min, or never"
        case .logLevel: Wording.oneOf(LogEntry.Priority.allCases.map(\.name))
        case .limits: "a limit's name and its value"
        case .link: "fleet, host, forms, key, bridge, mode, users and streams by their names"
        }
    }
}

struct BadValue: Error, Hashable {
    let message: String
    let expected: String

    var line: String { Wording.refusal(message, expected: expected) }
}

extension LogEntry.Priority {
    /// The name in the configuration and in a line for people.
    public var name: String {
        switch self {
        case .error: "error"
        case .warning: "warning"
        case .notice: "notice"
        case .info: "info"
        case .debug: "debug"
        }
    }
}

/// A set of options; those that are not set come from a source with lower precedence.
public struct ConfigurationLayer: Sendable, Equatable {
    public var socket: String?
    public var stateDirectory: String?
    public var durability: Durability?
    /// Name or number, not yet looked up.
    public var group: String?
    /// Replaces the whole list of a source with lower precedence.
    public var forms: [String]?
    /// 0: never.
    public var idleExitSeconds: Int?
    public var logLevel: LogEntry.Priority?
    /// By name, in the order in which they were given; added to those of a source with lower
    /// precedence.
    public var limits: [LimitSetting] = []
    /// Replaces the whole link of a source with lower precedence.
    public var link: LinkOptions?

    /// Nothing set.
    public init() {}
}

/// One limit and its value.
public struct LimitSetting: Sendable, Hashable {
    /// The name, as in `Limits.all`.
    public let name: String
    public let value: Int
}

extension ConfigurationLayer {
    /// Sets one value from text; relative paths are relative to `folder`.
    mutating func set(
        _ option: ConfigurationOption, _ text: String, folder: String
    ) throws(BadValue) {
        func refused() -> BadValue {
            BadValue(
                message: "\"\(text)\" is not a value of \(option.rawValue)",
                expected: option.expected)
        }
        switch option {
        case .socket:
            let path = try Self.path(text, folder, option)
            guard path.utf8.count <= 107 else {
                throw BadValue(
                    message: "the socket's path has \(path.utf8.count) bytes",
                    expected: option.expected)
            }
            socket = path
        case .stateDirectory: stateDirectory = try Self.path(text, folder, option)
        case .durability:
            guard let choice = Durability(rawValue: text) else { throw refused() }
            durability = choice
        case .group:
            guard !text.isEmpty, !text.utf8.contains(0) else { throw refused() }
            group = text
        case .forms: forms = (forms ?? []) + [try Self.path(text, folder, option)]
        case .idleExit:
            guard let seconds = Units.seconds(text), seconds <= 31_536_000 else { throw refused() }
            idleExitSeconds = seconds
        case .logLevel:
            guard let level = LogEntry.Priority.allCases.first(where: { $0.name == text }) else {
                throw refused()
            }
            logLevel = level
        case .limits: limits.append(try LimitSetting(text))
        case .link:
            var options = link ?? LinkOptions()
            try options.set(text, folder: folder)
            link = options
        }
    }

    static func path(
        _ text: String, _ folder: String, _ option: ConfigurationOption
    ) throws(BadValue) -> String {
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw BadValue(message: "\"\(text)\" is not a path", expected: option.expected)
        }
        if text.hasPrefix("/") { return text }
        return folder.hasSuffix("/") ? folder + text : folder + "/" + text
    }
}

extension LimitSetting {
    /// `maxFrame=64KiB`.
    init(_ text: String) throws(BadValue) {
        guard let equals = text.firstIndex(of: "=") else {
            throw BadValue(message: "\"\(text)\" is not a limit", expected: "NAME=VALUE")
        }
        try self.init(
            name: String(text[..<equals]), value: String(text[text.index(after: equals)...]))
    }

    /// The value of a limit in `Limits.all`, within its range.
    init(name: String, value text: String) throws(BadValue) {
        guard let limit = Limits.all.first(where: { $0.name.isSameBytes(as: name) }) else {
            throw BadValue(
                message: "no limit \"\(name)\"",
                expected: Similar.orAll(name, among: Limits.all.map(\.name)))
        }
        let value = limit.unit == "bytes" ? Units.bytes(text) : Units.count(text)
        guard let value, limit.range.contains(value) else {
            throw BadValue(
                message: "\"\(text)\" is not a value of \(name)",
                expected:
                    "\(limit.range.lowerBound) to \(limit.range.upperBound) \(limit.unit)")
        }
        self.name = limit.name
        self.value = value
    }
}

/// Parses numbers in a configuration. A number that is too large is `nil`.
enum Units {
    /// Only digits.
    static func count(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// Bytes: `4096`, `64KiB`, `1MiB`, `1GiB`, a blank allowed before the unit.
    static func bytes(_ text: String) -> Int? {
        number(text, [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1)])
    }

    /// Whole seconds: a duration, or `never` for 0.
    static func seconds(_ text: String) -> Int? {
        if text == "never" { return 0 }
        return DurationText.seconds(text).flatMap { Int(exactly: $0) }
    }

    private static func number(_ text: String, _ units: [(name: String, factor: Int)]) -> Int? {
        for unit in units where text.hasSuffix(unit.name) {
            var digits = text.dropLast(unit.name.count)
            if digits.last == " " { digits.removeLast() }
            guard let number = count(digits) else { return nil }
            let (value, isTooLarge) = number.multipliedReportingOverflow(by: unit.factor)
            return isTooLarge ? nil : value
        }
        return count(text)
    }
}
