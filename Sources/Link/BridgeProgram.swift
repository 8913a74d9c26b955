internal import EventLoop
internal import Glibc
internal import PickerClient
internal import SyncCore

// The life of the process: SIGTERM and SIGINT end it at once, as it has nothing to lose.

/// The program pickersync-link.
public enum BridgeProgram {
    /// Carries messages until it is told to stop.
    ///
    /// - Parameter socket: the daemon's socket; `nil`: where pickerctl would look.
    /// - Returns: the exit status: 0 stopped as requested, 70 something of the system failed.
    public static func run(_ options: BridgeOptions, socket: String?) -> Int32 {
        let path = socket ?? SocketResolution(option: nil, probe: .system()).path
        // One to connect, one to end the connection before.
        Work.limitThreads(to: 2)
        do {
            try Loop.withLoop { loop in
                let bridge = try Bridge(loop: loop, options: options, socket: path) { line in
                    writeLine(line)
                }
                for number in [SIGTERM, SIGINT] {
                    let watcher = try SignalWatcher(loop: loop)
                    watcher.onSignal = { _ in exit(0) }
                    try watcher.start(number)
                }
                loop.run()
                withExtendedLifetime(bridge) {}
            }
            return 0
        } catch {
            writeLine("cannot run the event loop: \(error)")
            return 70
        }
    }

    /// Writes a line to standard error, which is the journal of a service.
    public static func writeLine(_ line: String) {
        var text = "pickersync-link: \(line.escapedForDisplay())\n"
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Subjects to which a host publishes, but for those that the log keeps.
    static func tried(fleet: String, host: String) -> [String] {
        let stream = LinkSubject.stream(of: fleet)
        return [
            "ps.\(fleet).\(host).b", "$JS.API.STREAM.INFO.\(stream)",
            "$JS.API.CONSUMER.CREATE.\(stream)", "$JS.API.CONSUMER.MSG.NEXT.\(stream).check",
        ]
    }

    /// The configuration of a server for a fleet: JetStream, and a user for each host with the
    /// permissions that it needs.
    ///
    /// - Parameters:
    ///   - followers: Those of the hosts that edit nothing and may publish beacons alone.
    ///   - password: Makes a password for a host.
    /// - Returns: `nil` if a name cannot be that of a fleet or a host.
    public static func natsConfiguration(
        fleet: String, hosts: [String], followers: Set<String> = [],
        password: (String) -> String
    ) -> String? {
        guard LinkSubject.isName(fleet), hosts.allSatisfy(LinkSubject.isName) else { return nil }
        let stream = LinkSubject.stream(of: fleet)
        var text = """
            # nats-server for the fleet \(fleet). Each host's password belongs into its link.yaml:
            # servers: ["nats://HOST:PASSWORD@ADDRESS:4222"]. Use tls:// outside of one machine.
            jetstream {
              store_dir: /var/lib/nats
            }
            authorization {
              users: [

            """
        for host in hosts {
            let isFollower = followers.contains(host)
            var publish = [
                "ps.\(fleet).\(host).\(isFollower ? "b" : ">")",
                "$JS.API.STREAM.INFO.\(stream)", "$JS.API.CONSUMER.CREATE.\(stream)",
                "$JS.API.CONSUMER.MSG.NEXT.\(stream).*",
            ]
            // The first host to connect makes the stream.
            if !isFollower { publish.append("$JS.API.STREAM.CREATE.\(stream)") }
            let subscribe = ["_INBOX.\(host).>"] + LinkSubject.heard(in: fleet)
            func list(_ subjects: [String]) -> String {
                "[" + subjects.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
            }
            text += """
                    {
                      user: \(host), password: "\(password(host))"
                      permissions: {
                        publish: \(list(publish))
                        subscribe: \(list(subscribe))
                      }
                    }

                """
        }
        return text + "  ]\n}\n"
    }
}
