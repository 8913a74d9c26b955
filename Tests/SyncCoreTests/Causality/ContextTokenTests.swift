// Tokens: one spelling each, and no harm from hostile ones.

import Simulation
import SyncCore
import Testing

@Suite("Causality: tokens")
struct ContextTokenTests {
    @Test("a token is spelled in one way, and read back as what it was")
    func roundTrip() throws {
        for (_, context) in CausalContextTests.all {
            let token = ContextToken.render(context)
            #expect(try ContextToken.parse(token) == context)
        }
        let replica = ReplicaID(id: 0x3f9a, epoch: 1)
        let context = CausalContext(
            VersionVector([.init(replica, 1042)]), loose: [Dot(replica, 1044)])
        #expect(ContextToken.render(context) == "3f9a.1:1042+1044")
        #expect(ContextToken.render(CausalContext()).isEmpty)
        #expect(try ContextToken.parse("").isEmpty)
        #expect(try ContextToken.parse("a.1:0+5").loose == [dotA(5)])
    }

    @Test(
        "a malformed token is refused where it goes wrong",
        arguments: [
            ("a", 1), ("a.", 2), ("a.1", 3), ("a.1:", 4), ("a.1:x", 4), ("a.1:1,", 6),
            ("a.1:1+", 6), ("a.1:1+2", 6), ("a.1:1+4+3", 8), ("a.1:1+3+3", 8), ("a.1:0", 5),
            ("a.1:01", 4), ("0a.1:1", 0), ("A.1:1", 0), ("a.01:1", 2), ("a.1:1 ", 5),
            ("b.1:1,a.1:1", 6), ("a.1:1,a.1:2", 6), (" a.1:1", 0), ("a.1:-1", 4), (",", 0),
            ("a.1:18446744073709551616", 4), ("1000000000000.1:1", 0), ("a.4294967296:1", 2),
            ("ä.1:1", 0), ("a.1:1;b.1:1", 5), ("a.1:1\u{0}", 5), ("a.1:1+1", 6), ("a.1:0+1", 6),
        ])
    func malformed(token: String, position: Int) {
        #expect {
            try ContextToken.parse(token)
        } throws: { error in
            guard case .invalid(position, _)? = error as? ContextTokenError else {
                Issue.record("\(token): \(error)")
                return false
            }
            return true
        }
    }

    @Test("a token over 4 KiB is a limit, and 10 MB are refused without reading them")
    func tooLong() throws {
        let long = String(repeating: "a.1:1,", count: 10_000_000 / 6)
        #expect(throws: ContextTokenError.limit(bytes: long.utf8.count)) {
            try ContextToken.parse(long)
        }
        let replicas = (0..<230).map {
            VersionVector.Entry(ReplicaID(id: 0x1_0000 + $0, epoch: 1), 10_000)
        }
        let fitting = ContextToken.render(CausalContext(VersionVector(replicas)))
        #expect(fitting.utf8.count <= ContextToken.bytesMax)
        #expect(try ContextToken.parse(fitting).vector.entries.count == 230)
        let over = String(repeating: "1", count: ContextToken.bytesMax + 1)
        #expect(throws: ContextTokenError.limit(bytes: 4097)) { try ContextToken.parse(over) }
    }

    @Test("a forged token covers what the store has committed, and nothing more")
    func forged() throws {
        var copy = ExampleCopy(replicaA)
        try copy.set("v1", token: "")
        let hostile = [
            "a.1:18446744073709551615", "a.1:9223372036854775808", "a.1:9223372036854775807",
            "a.1:1+9223372036854775807+9223372036854775809+18446744073709551615",
            "0.0:1,a.1:999,ffffffffffff.4294967295:18446744073709551615",
        ]
        for token in hostile {
            let context = try ContextToken.parse(token)
            #expect(context.clipped(to: copy.form.context).description == "a.1:1")
            var victim = copy
            try victim.set("v2", token: token)
            #expect(victim.values == ["v2"], "what a plain set may do")
            #expect(victim.form.context.description == "a.1:2", "nothing of the token is stored")
            try victim.set("v3", token: "")
            #expect(victim.values == ["v2", "v3"])
        }
    }

    @Test("a token from the future does not cover what is written later")
    func future() throws {
        var copy = ExampleCopy(replicaA)
        try copy.set("v1", token: "")
        let answer = try copy.set("v2", token: "a.1:5")
        #expect(answer == "a.1:2")
        try copy.set("v3", token: nil)
        try copy.set("v4", token: answer)
        #expect(copy.values == ["v3", "v4"])
    }

    @Test("a form gives clients its context without loose dots that nothing holds")
    func formToken() {
        var form = CausalForm()
        form.change(ExampleCopy.key, dot: dotA(1)) { _ in }
        form.change(ExampleCopy.key, dot: dotA(3)) { _ in }
        #expect(form.context.description == "a.1:1+3")
        #expect(form.token == "a.1:1")
    }
}
