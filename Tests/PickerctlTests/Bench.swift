import Foundation
import Testing

/// A private daemon in a folder of its own, and `pickerctl` as a process against it.
final class Bench {
    let folder: URL
    private var daemon: Process?
    /// Variables for every command beside the socket.
    var environment: [String: String] = [:]

    /// What a command left behind.
    struct Outcome {
        var status: Int32
        var out: String
        var err: String
        var lines: [String] { out.split(separator: "\n").map(String.init) }
    }

    /// The folder of the built products, where the test bundle lies too.
    static let products: URL = {
        var folder = Bundle.main.bundleURL
        for bundle in Bundle.allBundles where bundle.bundlePath.hasSuffix(".xctest") {
            folder = bundle.bundleURL.deletingLastPathComponent()
        }
        let beside = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        return [folder, beside].first {
            FileManager.default.isExecutableFile(atPath: $0.appending(path: "pickerctl").path)
        }
            ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: ".build/debug")
    }()

    var socket: String { folder.appending(path: "sock").path }

    init(starting: Bool = true) throws {
        folder = URL(filePath: "/tmp").appending(path: "pickerctl-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if starting { try start() }
    }

    deinit {
        stop(SIGKILL)
        try? FileManager.default.removeItem(at: folder)
    }

    /// The daemon's process.
    var process: pid_t? { daemon?.processIdentifier }

    /// Starts the daemon and waits for its `ready:` line; `fileBlocksMax` is how many blocks of 512
    /// bytes its files may have.
    func start(fileBlocksMax: Int? = nil) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        let limit = fileBlocksMax.map { "ulimit -f \($0); " } ?? ""
        process.arguments = [
            "-c", limit + "exec \"$0\" \"$@\"", Self.products.appending(path: "pickersyncd").path,
            "--socket", socket, "--state-directory", folder.appending(path: "state").path,
        ]
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        daemon = process
        var text = ""
        while !text.contains("ready: ") {
            let data = pipe.fileHandleForReading.availableData
            try #require(!data.isEmpty, "the daemon ended: \(text)")
            text += String(decoding: data, as: UTF8.self)
        }
        // Nobody reads its log from here on, and it must not stop for that.
        pipe.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    func stop(_ signal: Int32 = SIGKILL) {
        guard let daemon, daemon.isRunning else { return }
        kill(daemon.processIdentifier, signal)
        daemon.waitUntilExit()
    }

    /// A command that is not waited for.
    func launch(
        _ arguments: [String], input: String? = nil, asSecondUser: Bool = false
    ) throws -> Running {
        let process = Process()
        let words =
            (asSecondUser ? SecondUser.prefix : [])
            + [Self.products.appending(path: "pickerctl").path] + arguments
        process.executableURL = URL(filePath: words[0])
        process.arguments = Array(words.dropFirst())
        var variables = ProcessInfo.processInfo.environment
        for name in variables.keys where name.hasPrefix("PICKER") { variables[name] = nil }
        variables["PICKERSYNC_SOCKET"] = socket
        variables.merge(environment) { $1 }
        process.environment = variables
        return try Running(process, input: input)
    }

    /// A script of bash that calls `pickerctl` as people do, in the folder of the bench.
    func shell(_ script: String, _ arguments: String...) throws -> Running {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["--norc", "-c", script, "bash"] + arguments
        process.environment = [
            "PATH": Self.products.path + ":/usr/bin:/bin", "PICKERSYNC_SOCKET": socket,
        ]
        process.currentDirectoryURL = folder
        return try Running(process, input: nil)
    }

    /// Runs a command to its end.
    @discardableResult func run(_ arguments: String..., input: String? = nil) throws -> Outcome {
        try launch(arguments, input: input).outcome()
    }

    /// Writes a file and gives its path.
    func file(_ name: String, _ text: String) throws -> String {
        let url = folder.appending(path: name)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    /// Applies a form.
    func apply(_ text: String) throws {
        let outcome = try run("form", "apply", "-y", "-", input: text)
        try #require(outcome.status == 0, "\(outcome.err)")
    }

    static let iceCream = """
        form: ice-cream
        fields:
          - {id: flavor, type: picker, label: Flavor, options: [chocolate, vanilla, strawberry]}
          - {id: scoops, type: stepper, min: 1, max: 5, default: 2}
          - {id: cone, type: toggle, default: true}
          - {id: days, type: picker, multiple: true, options: [mon, tue, wed], default: [mon]}
          - {id: note, type: text, multiline: true}
          - {id: key, type: secure}
          - {id: size, type: picker, optional: true, options: [s, m, l]}
          - {id: order, type: button, enabledWhen: {cone: true}}
          - {id: says, type: label, text: "${flavor}!"}
        """
}

/// A command under way.
final class Running {
    let process: Process
    private let out = Pipe()
    private let err = Pipe()
    private var taken = ""

    init(_ process: Process, input: String?) throws {
        self.process = process
        process.standardOutput = out
        process.standardError = err
        let stdin = Pipe()
        process.standardInput = input == nil ? FileHandle.nullDevice : stdin
        try process.run()
        if let input {
            stdin.fileHandleForWriting.write(Data(input.utf8))
            try stdin.fileHandleForWriting.close()
        }
    }

    /// Reads standard output up to and with a line that contains `text`; everything so far.
    func read(until text: String) -> String {
        while !taken.contains(text) {
            let data = out.fileHandleForReading.availableData
            if data.isEmpty { break }
            taken += String(decoding: data, as: UTF8.self)
        }
        return taken
    }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Waits for the end; a shell's status where a signal ended it.
    func outcome() -> Bench.Outcome {
        let rest = out.fileHandleForReading.readDataToEndOfFile()
        let errors = err.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let status = process.terminationStatus
        return Bench.Outcome(
            status: process.terminationReason == .uncaughtSignal ? 128 + status : status,
            out: taken + String(decoding: rest, as: UTF8.self),
            err: String(decoding: errors, as: UTF8.self))
    }
}
