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
    static func tried(_ link: LinkAttached) -> [String] {
        ["ps.\(link.fleet).\(link.host).b"]
            + reading(link.fleet, sites: link.streams, consumer: "check")
    }

    /// What a host that reads streams asks of JetStream: of the server's own domain, and of those
    /// of sites. A server may judge a request to its own domain under either name.
    private static func reading(
        _ fleet: String, sites: [String], consumer: String
    ) -> [String] {
        ([""] + sites).flatMap { asked(fleet, of: $0, consumer: consumer) }
    }

    private static func asked(_ fleet: String, of site: String, consumer: String) -> [String] {
        let (prefix, stream) = (JetStreamTalk.prefix(of: site), LinkSubject.stream(of: fleet))
        return [
            "\(prefix).STREAM.INFO.\(stream)", "\(prefix).CONSUMER.CREATE.\(stream)",
            "\(prefix).CONSUMER.MSG.NEXT.\(stream).\(consumer)",
        ]
    }

    /// The servers of a fleet with several sites, as one of them sees them.
    public struct Sites: Sendable {
        /// The JetStream domains of all sites, that of this server first; none: the fleet has one
        /// server.
        public var names: [String]
        /// The site of which this server is a leaf node; `nil`: the others are leaf nodes of it.
        public var hub: String?

        /// Sites of these names.
        public init(names: [String] = [], hub: String? = nil) {
            self.names = names
            self.hub = hub
        }
    }

    /// The files, PEM, with which a server shows who it is, and with which it knows its hub.
    public struct TLSFiles: Sendable {
        var certificate: String
        var key: String
        var ca: String?

        /// Files of these names.
        public init(certificate: String, key: String, ca: String? = nil) {
            self.certificate = certificate
            self.key = key
            self.ca = ca
        }

        fileprivate func block(_ indent: String) -> String {
            """
            \(indent)tls {
            \(indent)  cert_file: \(BridgeProgram.quoted(certificate))
            \(indent)  key_file: \(BridgeProgram.quoted(key))
            \(indent)}

            """
        }
    }

    /// The configuration of a server for a fleet: JetStream, and a user for each host with the
    /// permissions that it needs; of a server with leaf nodes a user for each of them.
    ///
    /// - Parameters:
    ///   - followers: Those of the hosts that edit nothing and may publish beacons alone.
    ///   - sites: Where the fleet has several streams.
    ///   - tls: Hosts and leaf nodes must use TLS; `nil`: none does.
    ///   - password: Makes a password for a host.
    /// - Returns: `nil` if a name cannot be that of a fleet, a host or a site.
    public static func natsConfiguration(
        fleet: String, hosts: [String], followers: Set<String> = [], sites: Sites = Sites(),
        tls: TLSFiles? = nil, password: (String) -> String
    ) -> String? {
        guard ([fleet] + hosts + sites.names).allSatisfy(LinkSubject.isName) else { return nil }
        let (scheme, hint) =
            tls == nil ? ("nats", " Use tls:// outside of one machine.") : ("tls", "")
        var text = """
            # nats-server for the fleet \(fleet). Each host's password belongs into its link.yaml:
            # servers: ["\(scheme)://HOST:PASSWORD@ADDRESS:4222"].\(hint)

            """
        text += tls?.block("") ?? ""
        let own = sites.names.first
        text += """
            jetstream {
              store_dir: /var/lib/nats
            \(own.map { "  domain: \($0)\n" } ?? "")}

            """
        let leaves = sites.hub == nil ? sites.names.dropFirst() : []
        if let own, let hub = sites.hub {
            let url = "\(tls == nil ? "nats-leaf" : "tls")://\(own):PASSWORD@ADDRESS:7422"
            let authorities = tls?.ca.map { ", tls { ca_file: \(quoted($0)) }" } ?? ""
            text += """
                # The password of \(own) is in the configuration of the server of \(hub).
                leafnodes {
                  remotes: [ { url: "\(url)"\(authorities) } ]
                }

                """
        } else if !leaves.isEmpty {
            text += """
                leafnodes {
                  listen: 0.0.0.0:7422
                \(tls?.block("  ") ?? "")}

                """
        }
        text += "authorization {\n  users: [\n"
        for host in hosts {
            let isFollower = followers.contains(host)
            let publish =
                ["ps.\(fleet).\(host).\(isFollower ? "b" : ">")"]
                + reading(fleet, sites: sites.names, consumer: "*")
                // The first host to connect makes the stream.
                + (isFollower ? [] : creating(fleet, own))
            text += user(
                host, password(host), publish: publish,
                subscribe: ["_INBOX.\(host).>"] + LinkSubject.heard(in: fleet))
        }
        for leaf in leaves {
            // What streams keep does not pass: each message is in one stream.
            let both = ["_INBOX.*.>"] + LinkSubject.heard(in: fleet)
            func asked(of sites: [String]) -> [String] {
                sites.flatMap { self.asked(fleet, of: $0, consumer: "*") }
            }
            text += user(
                leaf, password(leaf), publish: both + asked(of: sites.names.filter { $0 != leaf }),
                subscribe: both + asked(of: [leaf]))
        }
        return text + "  ]\n}\n"
    }

    private static func creating(_ fleet: String, _ site: String?) -> [String] {
        (["", site].compactMap(\.self)).map { JetStreamTalk.create(fleet: fleet, site: $0).subject }
    }

    /// A text between quotes.
    private static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    private static func user(
        _ name: String, _ password: String, publish: [String], subscribe: [String]
    ) -> String {
        func list(_ subjects: [String]) -> String {
            "[" + subjects.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
        }
        return """
                {
                  user: \(name), password: "\(password)"
                  permissions: {
                    publish: \(list(publish))
                    subscribe: \(list(subscribe))
                  }
                }

            """
    }
}
