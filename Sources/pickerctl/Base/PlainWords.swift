// A command line of plain words, read without ArgumentParser.
//
// ArgumentParser finds out by reflection what a command takes, on each start anew, and that takes
// longer than nearly every command does. What people and scripts write is nearly always plain:
// `--name value`, `--name=value`, `-n value`, a flag, a name. A command takes such words from here
// one after another; where anything else is among them (an option that it does not know, or twice,
// or without its value, a value that it may not have, `--`, letters together, `--help`) the words
// are not plain, nothing has happened yet, and ArgumentParser reads the line instead and words the
// answer. A test draws command lines and compares what both understand.

internal import ArgumentParser
internal import SyncCore

/// Words that a command takes one after another: options first, names at the end.
struct PlainWords {
    /// Words that nobody took yet, with their places in the line.
    private var words: [(place: Int, text: String)]
    /// Whether all that was taken is what it should be.
    private var isPlain = true

    init(_ words: ArraySlice<String>) {
        self.words = words.enumerated().map { (place: $0.offset, text: $0.element) }
    }

    /// Whether each word was taken, and was what it should be.
    var isSpent: Bool { isPlain && words.isEmpty }

    /// What must hold of what was taken.
    mutating func require(_ holds: Bool) {
        if !holds { isPlain = false }
    }

    // MARK: Options

    /// Whether a flag is there, by one of its names.
    mutating func flag(_ names: String...) -> Bool {
        guard let index = words.firstIndex(where: { names.contains($0.text) }) else { return false }
        words.remove(at: index)
        return true
    }

    /// The value of an option: the next word, or what stands behind `--name=`.
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

    /// The value of an option that is a whole number, `least` or more.
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

    /// The options that every command takes.
    mutating func settings() -> Settings {
        var settings = Settings()
        settings.socket = value("--socket")
        settings.form = value("--form", "-f")
        settings.autostart = !flag("--no-autostart")
        settings.connectSeconds = seconds("--connect-timeout")
        settings.isQuiet = flag("--quiet", "-q")
        settings.color = read(value("--color")) { Console.Color(rawValue: $0) } ?? .auto
        return settings
    }

    // MARK: Names

    /// All that is left, which is at least so many words and no options.
    mutating func names(atLeast least: Int = 0) -> [String] {
        require(words.count >= least && words.allSatisfy { Self.isName($0.text) })
        defer { words = [] }
        return words.map(\.text)
    }

    /// The one word that is left.
    mutating func name() -> String {
        let names = names(atLeast: 1)
        require(names.count == 1)
        return names.first ?? ""
    }

    /// The one word that is left, if any is.
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

    /// What stands behind `name=`, unless it is nothing or begins with what might combine with the
    /// equals sign before it.
    private static func joined(_ word: String, _ name: String) -> String? {
        let bytes = word.utf8
        guard bytes.starts(with: name.utf8), name.utf8.count > 2 else { return nil }
        let rest = bytes.dropFirst(name.utf8.count)
        guard rest.first == UInt8(ascii: "="), let first = rest.dropFirst().first, first < 0x80
        else { return nil }
        return String(decoding: rest.dropFirst(), as: UTF8.self)
    }
}

/// What a command was asked for, however its words were read. Each has an initializer that takes
/// it from plain words; where they are not, it means nothing.
protocol PlainRequest: Equatable {
    func run() throws(Failure)
}

/// A command whose usual lines need no ArgumentParser.
protocol PlainCommand: ParsableCommand {
    associatedtype Request: PlainRequest

    /// What ArgumentParser has read.
    var request: Request { get }
}

extension PlainCommand {
    func run() throws { try request.run() }
}
