import DaemonCore
import Glibc
import SyncCore

// The daemon's command line: arguments in, an exit status out. What they mean is DaemonCore's.

/// Name, default and purpose of each limit.
func limitLines() -> [String] {
    func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.utf8.count))
    }
    return Limits.all.map { limit in
        padded(limit.name, to: 27)
            + padded("\(Limits()[keyPath: limit.path]) \(limit.unit)", to: 22) + limit.reason
    }
}

func writeError(_ line: String) {
    var text = "pickersyncd: \(line)\n"
    text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

func currentDirectory() -> String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
}

/// Does what the arguments say; returns the exit status.
func run(_ arguments: Arguments) -> Int32 {
    if arguments.contains(.help) {
        print(Arguments.help, terminator: "")
    } else if arguments.contains(.version) {
        print(Version.current)
    } else if arguments.contains(.dump) {
        print(Arguments.dump, terminator: "")
    } else if arguments.contains(.limits) {
        for line in limitLines() { print(line) }
    } else if let path = arguments[.newFleetKey] {
        return Daemon.makeFleetKey(path).rawValue
    } else {
        let sources = ConfigurationSources(
            flags: arguments.flags, file: arguments[.config], environment: .take(), uid: geteuid(),
            workingDirectory: currentDirectory())
        if arguments.contains(.check) {
            let report = Daemon.check(sources)
            for line in report.plan { print(line) }
            for problem in report.problems { writeError(problem) }
            return report.status.rawValue
        }
        if let backup = arguments[.restore] {
            return Daemon.restore(sources, from: backup).rawValue
        }
        return Daemon.run(sources, newReplica: arguments.contains(.newReplica)).rawValue
    }
    return 0
}

do throws(Arguments.Mistake) {
    exit(run(try Arguments(Array(CommandLine.arguments.dropFirst()))))
} catch {
    writeError("\(error.line); see pickersyncd --help")
    exit(64)
}
