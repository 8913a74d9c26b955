internal import FormFile
internal import SyncCore

// link.yaml: which servers the bridge uses, and how it says who it is.

/// The options of the bridge.
public struct BridgeOptions: Sendable, Equatable {
    /// The servers, tried in order: `nats://host:4222`, `tls://host:4222`.
    public var servers: [String]
    /// A file of credentials, as nsc(1) writes it.
    public var credentials: String?
    /// The public nkey of the user, `U…`, and a file with its seed, as nk(1) writes it.
    public var nkey: String?
    public var seed: String?
    /// A certificate of the client and its key, PEM.
    public var certificate: String?
    public var key: String?
    /// The certificates of the authorities that sign the servers', PEM.
    public var ca: String?

    /// The file that is read if no other is named.
    public static let usualFile = "/etc/pickersync/link.yaml"

    /// Options of these values.
    public init(
        servers: [String], credentials: String? = nil, nkey: String? = nil, seed: String? = nil,
        certificate: String? = nil, key: String? = nil, ca: String? = nil
    ) {
        self.servers = servers
        self.credentials = credentials
        self.nkey = nkey
        self.seed = seed
        self.certificate = certificate
        self.key = key
        self.ca = ca
    }

    /// Reads a file.
    /// - Throws: a line for each mistake, with its place.
    public static func load(_ file: String) throws(BridgeFailure) -> BridgeOptions {
        do throws(FileIssues) {
            return try parse(
                try FileReading.bytes(ofFile: file, alsoDescriptors: false), name: file)
        } catch {
            throw BridgeFailure(error.issues.map(\.description))
        }
    }

    static func parse(_ bytes: [UInt8], name: String) throws(FileIssues) -> BridgeOptions {
        let tree = try YAMLDocument.parse(bytes, name: name)
        var options = BridgeOptions(servers: [])
        var issues: [FileIssue] = []
        let folder = name.lastIndex(of: "/").map { String(name[...$0]) } ?? ""
        func refuse(_ path: [PathStep], _ message: String, _ expected: String) {
            issues.append(tree.issue(at: path, message, expected: expected))
        }
        func path(_ name: String, _ value: JSON) -> String? {
            guard let text = value.stringValue, !text.isEmpty, !text.utf8.contains(0) else {
                refuse([.key(name)], value.kindInWords, "the path of a file")
                return nil
            }
            return text.hasPrefix("/") ? text : folder + text
        }
        for (name, value) in tree.json.objectValue?.members ?? [] {
            switch name {
            case "servers":
                for (place, server) in (value.arrayValue ?? [value]).enumerated() {
                    let step: [PathStep] = value.arrayValue == nil ? [] : [.index(place)]
                    guard let text = server.stringValue, isServer(text) else {
                        refuse(
                            [.key(name)] + step, "no address of a server",
                            "nats://host:4222 or tls://host:4222")
                        continue
                    }
                    options.servers.append(text)
                }
            case "credentials": options.credentials = path(name, value)
            case "nkey":
                options.nkey = value.stringValue.flatMap { isNkey($0) ? $0 : nil }
                if options.nkey == nil {
                    refuse(
                        [.key(name)], "not the public nkey of a user", "U and 55 more characters")
                }
            case "seed": options.seed = path(name, value)
            case "certificate": options.certificate = path(name, value)
            case "key": options.key = path(name, value)
            case "ca": options.ca = path(name, value)
            default:
                let known = [
                    "servers", "credentials", "nkey", "seed", "certificate", "key", "ca",
                ]
                refuse([.key(name)], "no such option", Similar.orAll(name, among: known))
            }
        }
        if issues.isEmpty, options.servers.isEmpty {
            refuse([], "no servers", "servers: [\"nats://host:4222\"]")
        }
        if (options.certificate == nil) != (options.key == nil) {
            refuse([], "a certificate and its key belong together", "both, or neither")
        }
        if issues.isEmpty, (options.nkey == nil) != (options.seed == nil) {
            refuse([], "an nkey and its seed belong together", "both, or neither")
        }
        if options.nkey != nil, options.credentials != nil {
            refuse([], "credentials have an nkey of their own", "credentials, or nkey and seed")
        }
        guard issues.isEmpty else { throw FileIssues(issues) }
        return options
    }

    /// Base32 of 35 bytes, of which the first says that it is a user's.
    private static func isNkey(_ text: String) -> Bool {
        text.hasPrefix("U") && text.utf8.count == 56
            && text.utf8.allSatisfy {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                    || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains($0)
            }
    }

    private static func isServer(_ text: String) -> Bool {
        ["nats://", "tls://"].contains { text.hasPrefix($0) && text.utf8.count > $0.utf8.count }
            && text.utf8.count <= 1024 && !text.utf8.contains { $0 <= 0x20 || $0 == 0x7f }
    }
}

/// Why the bridge does not start.
public struct BridgeFailure: Error, Hashable, Sendable {
    /// What is wrong and what to do, one line each.
    public let messages: [String]

    init(_ messages: [String]) { self.messages = messages }
}
