// Parses simple command lines without ArgumentParser.
//
// ArgumentParser inspects a command by reflection at each start, which takes longer than most
// commands. Nearly all command lines are simple: `--name value`, `--name=value`, `-n value`, a
// flag, a name. A command takes such words from here one by one. Anything else (an unknown or
// repeated option, a missing or invalid value, `--`, combined letters, `--help`) makes the line not
// plain. Then nothing has been executed yet, and ArgumentParser parses the line and writes the
// error. A test compares both parsers on random command lines.

internal import ArgumentParser
internal import SyncCore

/// The words of a command line, which are taken one by one: options first, names last.
struct PlainWords {
    /// The remaining words with their positions.
    private var words: [(place: Int, text: String)]
    /// Whether everything taken so far is valid.
    private var isPlain = true

    init(_ words: ArraySlice<String>) {
        self.words = words.enumerated().map { (place: $0.offset, text: $0.element) }
    }

    /// Whether all words were taken and are valid.
    var isSpent: Bool { isPlain && words.isEmpty }

    /// Requires a condition, or the line is not plain.
    mutating func require(_ holds: Bool) {
        if !holds { isPlain = false }
    }

    // MARK: Options

    /// Whether a flag is present, by one of its names.
    mutating func flag(_ names: String...) -> Bool {
        guard let index = words.firstIndex(where: { names.contains($0.text) }) else { return false }
        words.remove(at: index)
        return true
    }

    /// The value of an option: the next word, or the text after `--name=`.
    mutating func value(_ names: String...) -> String? {
        for (index, (place, word)) in words.enumerated() where word.utf8.first == Self.dash {
            if names.contains(word) {
                let next = index + 1
                guard next < words.count, words[next].place == place + 1,
                    Self.isName(words[next].text)
                else {
                    isPlain = false
                    return nil
                }
                defer { words.removeSubrange(index...next) }
                return words[next].text
            }
            for name in names {
                guard let value = Self.joined(word, name) else { continue }
                words.remove(at: index)
                return value
            }
        }
        return nil
    }

    /// The value of an option that is one of a few words.
    mutating func choice<Value: RawRepresentable<String>>(_ name: String, _ letter: String)
        -> Value?
    {
        read(value(name, letter)) { Value(rawValue: $0) }
    }

    /// The value of an option that is a duration, in seconds.
    mutating func seconds(_ name: String) -> Double? {
        read(value(name)) { DurationText.seconds($0) }
    }

    /// The value of an option that is an integer of at least `least`.
    mutating func number<Number: FixedWidthInteger>(_ number: String?, from least: Number)
        -> Number?
    {
        let number = read(number) { Number($0) }
        require(number.map { $0 >= least } ?? true)
        return number
    }

    private mutating func read<Value>(_ text: String?, _ read: (String) -> Value?) -> Value? {
        guard let text else { return nil }
        let value = read(text)
        require(value != nil)
        return value
    }

    /// The common options.
    mutating func settings() -> Settings {
        var settings = Settings()
        settings.socket = value("--socket")
        settings.host = value("--host")
        settings.form = value("--form", "-f")
        settings.autostart = !flag("--no-autostart")
        settings.connectSeconds = seconds("--connect-timeout")
        settings.isQuiet = flag("--quiet", "-q")
        settings.color = read(value("--color")) { Console.Color(rawValue: $0) } ?? .auto
        return settings
    }

    // MARK: Names

    /// The remaining words: at least `least`, without options.
    mutating func names(atLeast least: Int = 0) -> [String] {
        require(words.count >= least && words.allSatisfy { Self.isName($0.text) })
        defer { words = [] }
        return words.map(\.text)
    }

    /// The only remaining word.
    mutating func name() -> String {
        let names = names(atLeast: 1)
        require(names.count == 1)
        return names.first ?? ""
    }

    /// The only remaining word, if any.
    mutating func nameIfAny() -> String? {
        let names = names()
        require(names.count <= 1)
        return names.first
    }

    // MARK: Words

    private static let dash = UInt8(ascii: "-")

    private static func isName(_ word: String) -> Bool {
        word.utf8.first.map { $0 != dash } ?? false
    }

    /// The text after `name=`, unless it is empty or begins with a character that could combine
    /// with the equals sign.
    private static func joined(_ word: String, _ name: String) -> String? {
        let bytes = word.utf8
        guard bytes.starts(with: name.utf8), name.utf8.count > 2 else { return nil }
        let rest = bytes.dropFirst(name.utf8.count)
        guard rest.first == UInt8(ascii: "="), let first = rest.dropFirst().first, first < 0x80
        else { return nil }
        return String(decoding: rest.dropFirst(), as: UTF8.self)
    }
}

/// The parsed arguments of a command. Each type has an initializer that parses plain words; if they
/// are not plain, its result must not be used.
protocol PlainRequest: Equatable {
    func run() throws(Failure)
}

/// A command whose usual command lines need no ArgumentParser.
protocol PlainCommand: ParsableCommand {
    associatedtype Request: PlainRequest

    /// The arguments as parsed by ArgumentParser.
    var request: Request { get }
}

extension PlainCommand {
    func run() throws { try request.run() }
}
