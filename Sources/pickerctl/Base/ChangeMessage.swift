// `-m`: why something is changed.

internal import ArgumentParser
internal import PickerClient
internal import SyncCore

/// The option of every command that changes something.
struct MessageOption: ParsableArguments {
    @Option(
        name: [.customShort("m"), .long],
        help: ArgumentHelp(
            "Why: one line that all readers of the form see. @FILE or - reads it.",
            valueName: "text"))
    var message: String?
}

extension PlainWords {
    /// The text of `-m`.
    mutating func message() -> String? { value("--message", "-m") }
}

extension Session {
    /// The message that an argument of `-m` means; `nil` without one.
    func message(_ argument: String?) throws(Failure) -> String? {
        guard let argument else { return nil }
        try require("messages")
        let isFile = argument.hasPrefix("@")
        guard isFile || argument == "-" else { return argument }
        var bytes = try InputFile.bytes(isFile ? String(argument.dropFirst()) : argument)
        while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") {
            bytes.removeLast()
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Refuses a command that needs what the daemon does not know.
    func require(_ feature: String) throws(Failure) {
        guard try knows(feature) else {
            throw .unknownFeature(feature)
        }
    }

    /// Whether the daemon knows a feature.
    func knows(_ feature: String) throws(Failure) -> Bool {
        if client.greeting == nil { try call(.ping) }
        return client.greeting?.features.contains(feature) ?? false
    }
}
