import Foundation
import TestKit
import Testing

/// A private daemon in a folder of its own, and `pickerctl` as a process against it.
final class Bench {
    /// How a command ended.
    typealias Outcome = ChildProcess.Outcome

    private let temporary: TemporaryFolder
    private var daemon: DaemonProcess?
    /// Variables for every command beside the socket.
    var environment: [String: String] = [:]

    var folder: URL { temporary.url }
    var socket: String { temporary("sock") }

    init(starting: Bool = true) throws {
        temporary = try TemporaryFolder()
        // Another user reaches the socket inside.
        chmod(temporary.path, 0o755)
        if starting { try start() }
    }

    /// With a form.
    convenience init(applying form: String) throws {
        try self.init()
        try apply(form)
    }

    /// The daemon's process.
    var process: pid_t? { daemon?.pid }

    /// Starts the daemon and waits until it accepts; `fileBlocksMax` is how many blocks of 512
    /// bytes its files may have.
    func start(fileBlocksMax: Int? = nil) throws {
        daemon = try DaemonProcess(temporary, limits: fileBlocksMax.map { "-f \($0)" }).ready()
    }

    func stop(_ signal: Int32 = SIGKILL) throws {
        daemon?.signal(signal)
        try daemon?.wait()
        daemon = nil
    }

    /// A command that is not waited for.
    func launch(
        _ arguments: [String], input: String? = nil, asSecondUser: Bool = false
    ) throws -> ChildProcess {
        var variables = ProcessInfo.processInfo.environment
        for name in variables.keys where name.hasPrefix("PICKER") { variables[name] = nil }
        variables["PICKERSYNC_SOCKET"] = socket
        variables["LC_ALL"] = "C.UTF-8"
        return try ChildProcess(
            (asSecondUser ? SecondUser.prefix : []) + [builtProgram("pickerctl")] + arguments,
            environment: variables.merging(environment) { $1 }, isEnvironmentWhole: true,
            input: input.map { .text($0) } ?? .nothing)
    }

    /// A script of bash that calls `pickerctl` as people do, in the folder of the bench.
    func shell(_ script: String, _ arguments: String...) throws -> ChildProcess {
        try ChildProcess(
            ["/bin/bash", "--norc", "-c", script, "bash"] + arguments,
            environment: [
                "PATH": builtProducts.path + ":/usr/bin:/bin", "PICKERSYNC_SOCKET": socket,
            ], isEnvironmentWhole: true, directory: folder)
    }

    /// Runs a command to its end.
    @discardableResult func run(_ arguments: String..., input: String? = nil) throws -> Outcome {
        try launch(arguments, input: input).outcome()
    }

    /// Writes a file and gives its path.
    func file(_ name: String, _ text: String) throws -> String {
        try temporary.write(name, text)
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
