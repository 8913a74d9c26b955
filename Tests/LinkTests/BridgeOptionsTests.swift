import FormFile
import Testing

@testable import Link

@Suite("The file of the bridge")
struct BridgeOptionsTests {
    private let key = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"

    /// The first mistake of a file; `nil` if there is none.
    private func mistake(_ text: String) -> String? {
        do {
            _ = try BridgeOptions.parse(Array(text.utf8), name: "/etc/pickersync/link.yaml")
            return nil
        } catch { return error.issues.first?.description }
    }

    @Test("all options; a path is in the folder of the file if it does not begin with a slash")
    func all() throws {
        let text = """
            servers: ["tls://nats1:4222", "nats://user:word@nats2"]
            nkey: \(key)
            seed: seed.nk
            certificate: c.pem
            key: /k.pem
            ca: ca.pem
            """
        let options = try BridgeOptions.parse(Array(text.utf8), name: "/etc/pickersync/link.yaml")
        #expect(
            options
                == BridgeOptions(
                    servers: ["tls://nats1:4222", "nats://user:word@nats2"], nkey: key,
                    seed: "/etc/pickersync/seed.nk", certificate: "/etc/pickersync/c.pem",
                    key: "/k.pem", ca: "/etc/pickersync/ca.pem"))
    }

    @Test(
        "a mistake is told with its place",
        arguments: [
            ("servers: [nats1]\n", "1:11"), ("servers: []\n", "no servers"),
            ("servers: nats://a\nkey: k\n", "belong together"),
            ("servers: nats://a\nseed: s\n", "belong together"),
            ("servers: nats://a\nnkey: SUACSS\nseed: s\n", "not the public nkey of a user"),
            ("servers: nats://a\nsede: s\n", "no such option"),
        ])
    func mistakes(_ text: String, _ part: String) {
        #expect(mistake(text)?.contains(part) == true, "\(mistake(text) ?? "none")")
    }

    @Test("credentials and an nkey exclude each other")
    func two() {
        let text = "servers: nats://a\ncredentials: c\nnkey: \(key)\nseed: s\n"
        #expect(mistake(text)?.contains("credentials have an nkey") == true)
    }
}
