import ArgumentParser
import Glibc
import Link
import SyncCore

// The bridge's command line: flags in, an exit status out.

struct PickerSyncLink: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pickersync-link",
        abstract: "Carry the messages of a linked pickersyncd to a NATS server.",
        discussion: """
            pickersyncd has the forms, the key and all decisions; this program has the network. It \
            keeps nothing, and may be stopped and started at any time. Exit status: 0 stopped as \
            requested, 64 usage, 70 something of the system failed, 78 configuration.
            """,
        version: Version.current)

    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config = BridgeOptions.usualFile

    @Option(help: ArgumentHelp("The socket of the daemon.", valueName: "path"))
    var socket: String?

    @Flag(help: "Read the configuration, say what is wrong with it, and exit.")
    var check = false

    @Flag(
        help: "Print a server's configuration for the hosts named, with new passwords, and exit.")
    var printNatsConfig = false

    @Option(help: ArgumentHelp("The fleet for --print-nats-config.", valueName: "name"))
    var fleet = "ops"

    @Argument(help: ArgumentHelp("Hosts for --print-nats-config.", valueName: "host"))
    var hosts: [String] = []

    @Option(
        help: ArgumentHelp(
            "A host for --print-nats-config that follows (link.mode); may be repeated.",
            valueName: "host"))
    var follower: [String] = []

    @Option(
        help: ArgumentHelp(
            "A site of the fleet for --print-nats-config: a JetStream domain with a stream of its "
                + "own. The first is that of the server; may be repeated.",
            valueName: "site"))
    var stream: [String] = []

    @Option(
        help: ArgumentHelp(
            "The site whose server this one is a leaf node of; without it, the others are its leaf "
                + "nodes.", valueName: "site"))
    var leafOf: String?

    @Option(
        help: ArgumentHelp(
            "The server's certificate (PEM) for --print-nats-config: hosts and leaf nodes must use "
                + "TLS.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("The key of --certificate (PEM).", valueName: "file"))
    var key: String?

    @Option(
        help: ArgumentHelp(
            "The authorities (PEM) of the certificate of the site of --leaf-of; without it, those "
                + "of the system.", valueName: "file"))
    var ca: String?

    func validate() throws {
        guard printNatsConfig == !(hosts + follower).isEmpty else {
            throw ValidationError(
                printNatsConfig
                    ? "--print-nats-config needs the names of the hosts"
                    : "hosts belong to --print-nats-config")
        }
        if !stream.isEmpty, stream.count < 2 || Set(stream).count < stream.count {
            throw ValidationError("--stream names each site of the fleet, and there are several")
        }
        if let leafOf, !stream.dropFirst().contains(leafOf) {
            throw ValidationError("--leaf-of is one of the other sites: --stream \(leafOf)")
        }
        guard (certificate == nil) == (key == nil), printNatsConfig || certificate == nil else {
            throw ValidationError("--certificate and --key belong together, to --print-nats-config")
        }
        if ca != nil, certificate == nil || leafOf == nil {
            throw ValidationError("--ca belongs to --leaf-of, --certificate and --key")
        }
    }

    func run() throws {
        if printNatsConfig {
            let text = BridgeProgram.natsConfiguration(
                fleet: fleet, hosts: hosts + follower, followers: Set(follower),
                sites: BridgeProgram.Sites(names: stream, hub: leafOf),
                tls: certificate.flatMap { certificate in
                    key.map { BridgeProgram.TLSFiles(certificate: certificate, key: $0, ca: ca) }
                }
            ) { _ in Self.newPassword() }
            guard let text else {
                BridgeProgram.writeLine(
                    "names of fleets, hosts and sites are 1 to 63 letters, digits, - and _")
                throw ExitCode(64)
            }
            print(text, terminator: "")
            return
        }
        let options: BridgeOptions
        do throws(BridgeFailure) {
            options = try BridgeOptions.load(config)
        } catch {
            for message in error.messages { BridgeProgram.writeLine(message) }
            throw ExitCode(78)
        }
        if check { return }
        throw ExitCode(BridgeProgram.run(options, socket: socket))
    }

    /// 128 random bits.
    private static func newPassword() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

PickerSyncLink.main()
