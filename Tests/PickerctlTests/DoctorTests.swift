import Foundation
import SyncCore
import TestKit
import Testing

@testable import pickerctl

@Suite("doctor says what is wrong and what to do next")
struct DoctorTests {
    @Test("a good daemon is told with its process, its store and its memory")
    func good() throws {
        let outcome = try Bench().run("doctor")
        #expect(outcome.status == 0)
        for words in ["somebody listens, process ", "protocol 1", "store: writable", "resident"] {
            #expect(outcome.out.contains(words), "\(words): \(outcome.out)")
        }
        #expect(!outcome.out.contains("BAD"))
    }

    @Test("a server of the link that is too old is told with its published faults")
    func serverFaults() throws {
        let (early, late) = ("CVE-2023-47090", "CVE-2025-30215")
        for (version, faults) in [
            ("2.9.10", [early, late]), ("2.9.23", [late]), ("2.10.1", [early, late]),
            ("2.10.26", [late]), ("2.10.27", []), ("2.11.0", [late]), ("2.11.1", []),
            ("2.15.1", []), ("1.4.0", [early, late]), ("3.0.0", []), ("dev", []), ("", []),
        ] {
            #expect(LinkReport.faults(ofServer: version) == faults, "\(version)")
        }
        let status = try JSON(
            parsing: #"{"link":{"server":"nats1","serverVersion":"2.9.10","up":true}}"#)
        let advice = try #require(LinkReport(status)?.serverAdvice)
        #expect(advice.hasPrefix("nats1 is nats-server 2.9.10, which has CVE-2023-47090 and "))
    }

    @Test("what a power cut of the server costs is told, with the setting that it may have")
    func serverSync() throws {
        func said(_ server: String) throws -> String? {
            let text = #"{"link":{"server":"nats1"\#(server),"up":true}}"#
            return LinkReport(try JSON(parsing: text))?.serverSync
        }
        let loss = "nats1 may lose the last 2 minutes of its log in a power cut; then hosts send "
        #expect(try said(#","serverVersion":"2.9.10""#)?.hasPrefix(loss) == true)
        for version in ["2.10.0", "2.15.1", "3.0.0", "dev"] {
            let text = try #require(try said(#","serverVersion":"\#(version)""#))
            #expect(text.hasPrefix("without sync_interval: always, which hosts cannot see, "))
            #expect(text.contains(loss))
        }
        #expect(try said("") == nil)
    }

    @Test("clocks that differ and hosts that disagree are told, each with its host")
    func hostsOfTheLink() throws {
        func report(_ hosts: String, _ form: String) throws -> pickerctl.LinkReport {
            let forms = #"[{"form":"deploy"\#(form)}]"#
            let text = #"{"link":{"up":true,"hosts":[\#(hosts)],"forms":\#(forms)}}"#
            return try #require(LinkReport(try JSON(parsing: text)))
        }
        let hosts = [("web2", 3_200, true), ("web3", -999, true), ("web4", 9_000, false)].map {
            #"{"host":"\#($0)","clockMs":\#($1),"isHeard":\#($2)}"#
        }
        let clocks = try report(hosts.joined(separator: ","), "")
        #expect(clocks.isWell && clocks.oddities.count == 1)
        #expect(clocks.oddities[0].hasPrefix("the clock of web2 is 3 s ahead of this host's"))
        let other = try report("", #","disagrees":["web2","web3"]"#)
        #expect(!other.isWell)
        #expect(other.lines.last?.hasPrefix("deploy: web2, web3 and this host have read") == true)
    }

    @Test("no socket, a stale one, a file in its place: each with its own step")
    func sockets() throws {
        let bench = try Bench(starting: false)
        let missing = try bench.run("doctor")
        #expect(missing.status == 69)
        #expect(missing.out.contains("start it: pickersyncd --socket \(bench.socket)"))
        try bench.start()
        try bench.stop(SIGKILL)
        let stale = try bench.run("doctor")
        #expect(stale.status == 69)
        #expect(stale.out.contains("is stale: its daemon is gone"), "\(stale.out)")
        // Another state directory would bring up another store on this socket.
        let advice =
            "start it: pickersyncd --socket \(bench.socket) --state-directory "
            + "\(bench.folder.path)/state"
        #expect(stale.out.contains(advice), "\(stale.out)")
        let get = try bench.run("get")
        #expect(get.err.contains(advice.dropFirst("start it: ".count)), "\(get.err)")
        unlink(bench.socket)
        _ = try bench.file("sock", "text")
        let file = try bench.run("doctor")
        #expect(file.status == 69)
        #expect(file.lines.count { $0.hasPrefix("BAD") } == 1)
        #expect(file.out.contains("is not a socket; remove it"), "\(file.out)")
    }

    @Test("a daemon that is stopped is told as that, with the way to wake it")
    func stopped() throws {
        let bench = try Bench()
        let pid = try #require(bench.process)
        kill(pid, SIGSTOP)
        defer { kill(pid, SIGCONT) }
        let outcome = try bench.run("doctor")
        #expect(outcome.status == 69)
        #expect(outcome.out.contains("is stopped; kill -CONT \(pid)"), "\(outcome.out)")
    }

    @Test("without a daemon of one's own it says what would start, and what would hinder it")
    func own() throws {
        let bench = try Bench(starting: false)
        bench.environment = ["PICKERSYNC_SOCKET": "", "XDG_STATE_HOME": ""]
        bench.environment["HOME"] = bench.folder.path
        bench.environment["XDG_RUNTIME_DIR"] = bench.folder.path
        let ready = try bench.run("doctor")
        #expect(ready.status == 0)
        #expect(ready.out.contains("the next command starts "), "\(ready.out)")
        bench.environment["HOME"] = ""
        let homeless = try bench.run("doctor")
        #expect(homeless.status == 69)
        #expect(homeless.out.contains("set HOME"))
        bench.environment["XDG_RUNTIME_DIR"] = ""
        if FileManager.default.fileExists(atPath: "/run/user/\(getuid())") { return }
        #expect(try bench.run("doctor").out.contains("note  XDG_RUNTIME_DIR is not set"))
    }

    @Test("bytes read as people write them")
    func sizes() {
        let sizes: [(Int64, String)] = [
            (0, "0 bytes"), (1_023, "1023 bytes"), (1_024, "1.0 KiB"), (1_536, "1.5 KiB"),
            (5 << 20, "5.0 MiB"), (.max, "838860.7 TiB"),
        ]
        for (bytes, text) in sizes { #expect(Examination.size(bytes) == text) }
    }
}
