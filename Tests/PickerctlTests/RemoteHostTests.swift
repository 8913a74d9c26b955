import Foundation
import PickerClient
import SyncCore
import TestKit
import Testing

@testable import pickerctl

/// `--host` with a program in the place of ssh(1), which runs the command here.
@Suite("a daemon on another machine, over ssh")
struct RemoteHostTests {
    let bench: Bench

    /// Options up to `--`, then the host, then the command for its shell.
    private static let ssh = """
        #!/bin/sh
        echo "$@" >> "${0%/*}/asked"
        while [ "$1" != -- ]; do shift; done
        host=$2 command=$3
        case $host in
            down) echo "ssh: connect to host down port 22: Connection refused" >&2; exit 255 ;;
            bare) echo "sh: 1: pickerctl: not found" >&2; exit 127 ;;
            loud) echo "Welcome to $host" ;;
            endless) exec yes ;;
            stuck) trap '' TERM; exec <&- >&-; while :; do sleep 0.1; done ;;
        esac
        echo $$ >> "${0%/*}/processes"
        PATH=PRODUCTS:$PATH exec sh -c "$command"
        """

    init() throws {
        bench = try Bench(applying: Bench.iceCream)
        let path = try bench.file(
            "ssh", Self.ssh.replacingOccurrences(of: "PRODUCTS", with: builtProducts.path))
        // Read by a shell: a file that another thread's child still has open cannot be executed.
        bench.environment["PICKERSYNC_SSH"] = "/bin/sh \(path)"
        bench.environment["XDG_RUNTIME_DIR"] = bench.folder.path
    }

    private func written(_ name: String) throws -> [Substring] {
        try String(contentsOf: bench.folder.appendingPathComponent(name), encoding: .utf8)
            .split(separator: "\n")
    }

    @Test("commands read and write there, by option and by variable")
    func commands() throws {
        #expect(try bench.run("--host", "web1", "set", "scoops=4").status == 0)
        #expect(try bench.run("get", "scoops").out == "4\n")
        #expect(try bench.run("get", "--host=web1", "scoops").out == "4\n")
        bench.environment["PICKERSYNC_HOST"] = "loud"
        #expect(try bench.run("get", "scoops").out == "4\n")
        let asked = try written("asked")
        #expect(asked.allSatisfy { $0.contains("ControlPersist=60") })
        #expect(asked.last?.hasSuffix("-- loud pickerctl relay") == true, "\(asked)")
    }

    @Test("a socket that is named is one of that machine, whatever is in its path")
    func socket() throws {
        let odd = bench.folder.path + "/it's $(date) a"
        try FileManager.default.createSymbolicLink(
            atPath: odd, withDestinationPath: bench.socket)
        #expect(try bench.run("--host", "web1", "--socket", odd, "get", "scoops").out == "2\n")
        let missing = try bench.run("--host", "web1", "--socket", "/nowhere", "get")
        #expect(missing.status == 69)
        #expect(missing.err.hasPrefix("pickerctl: web1: no daemon answers on /nowhere; start "))
    }

    @Test(
        "why there is no connection is one line with the next step",
        arguments: [
            ("down", "down: connect to host down port 22: Connection refused; try ssh down"),
            ("bare", "bare: pickerctl is not installed there; install it"),
            ("endless", "endless: ssh ended with status 0"),
            ("stuck", "stuck: ssh ended with status 0"),
        ])
    func refused(_ host: String, _ line: String) throws {
        for command in ["get", "doctor"] {
            let outcome = try bench.run("--host", host, command)
            #expect(outcome.status == 69)
            let said = command == "get" ? outcome.err : outcome.out
            #expect(said.contains(line), "\(said)")
        }
    }

    @Test("ssh that is not there, and a destination that looks like an option")
    func program() throws {
        #expect(try bench.run("--host", "-oProxyCommand=false", "get").status == 64)
        #expect(try bench.run("--host=-oProxyCommand=false", "get", "scoops").out == "2\n")
        #expect(try written("asked").allSatisfy { $0.contains(" -- -oProxyCommand=false ") })
        bench.environment["PICKERSYNC_SSH"] = "/nowhere/ssh"
        let outcome = try bench.run("--host", "web1", "get")
        #expect(outcome.status == 69)
        #expect(outcome.err.contains("/nowhere/ssh: No such file or directory"), "\(outcome.err)")
    }

    @Test("a watcher whose ssh is killed connects again and misses nothing")
    func killed() throws {
        let watch = try bench.launch([
            "--host", "web1", "watch", "-o", "value", "--initial", "scoops",
        ])
        _ = watch.read(until: "2\n")
        let process = try #require(try written("processes").last.flatMap { pid_t($0) })
        #expect(kill(process, SIGKILL) == 0)
        for scoops in [3, 4] { try bench.run("set", "scoops=\(scoops)") }
        _ = watch.read(until: "4\n")
        watch.signal(SIGTERM)
        #expect(watch.outcome().out == "2\n3\n4\n")
    }

    @Test("more than a pipe holds arrives whole in both directions")
    func large() throws {
        let fields = (0..<40).map { "  - {id: note\($0), type: text, multiline: true}\n" }
        try bench.apply("form: large\nfields:\n" + fields.joined())
        let note = String(repeating: "ä line\n", count: 500)
        let changes = (0..<40).map { "note\($0)=\(note)" }
        let set = try bench.launch(["--host", "web1", "set", "-f", "large"] + changes).outcome()
        #expect(set.status == 0, "\(set.err)")
        let here = try bench.run("get", "-f", "large", "-o", "json").out
        #expect(here.utf8.count > 128 << 10)
        #expect(try bench.run("--host", "web1", "get", "-f", "large", "-o", "json").out == here)
    }

    @Test("the others see which machine a terminal is of")
    func terminal() {
        let remote = Session.terminal(isRemote: true)
        let local = Session.terminal(isRemote: false)
        #expect(remote == local.map { "\(ProcessInfo.processInfo.hostName):\($0)" })
    }

    @Test("a relay that nobody reads ends, and its daemon's refusal is its own")
    func relay() throws {
        let alone = try bench.launch(["relay"]).outcome()
        #expect(alone.status == 0)
        #expect(alone.out == RemoteHost.greeting)
        bench.environment["PICKERSYNC_SOCKET"] = "/nowhere"
        let nobody = try bench.launch(["relay"]).outcome()
        #expect(nobody.status == 69)
        #expect(nobody.out.isEmpty)
        #expect(try bench.run("relay", "--host", "web1").status == 64)
    }
}
