import Testing

@testable import Link

@Suite("What a server says first")
struct ServerGreetingTests {
    @Test("its version is read; what is something else has none")
    func versions() {
        for (line, version) in [
            (#"INFO {"server_id":"N","version":"2.9.10","headers":true} "#, "2.9.10"),
            (#"INFO {"server_id":"N"}"#, ""), (#"INFO {"version":2}"#, ""), ("INFO {", ""),
            ("SSH-2.0-OpenSSH", ""), ("", ""),
        ] {
            #expect(ServerGreeting.version(in: Array(line.utf8)) == version, "\(line)")
        }
        #expect(ServerGreeting.version(ofServer: "no port") == "")
    }
}
