import SyncCore
import Testing

@testable import PickerClient

/// What a client holds and believes, whatever the peer sends.
@Suite("bounds of a client")
struct ClientBoundTests {
    private var machine = ClientMachine(
        ClientMachine.Configuration(client: "test", keyPrefix: "k", seed: 1), at: 0)

    private mutating func receive(_ text: String) -> [ClientEvent] {
        machine.received(Frame.encode(text: Array(text.utf8)), at: 0)
        var events: [ClientEvent] = []
        while let event = machine.takeEvent() { events.append(event) }
        return events
    }

    private static func violation(_ events: [ClientEvent]) -> String? {
        for case .violation(let reason) in events { return reason }
        return nil
    }

    private mutating func greet(maxFrame: Int) {
        machine.connectionOpened()
        _ = receive(
            #"{"jsonrpc":"2.0","id":1,"result":{"protocol":1,"server":"s","replica":"3f9a.1","#
                + #""features":[],"you":{"connection":1,"uid":0,"gid":0,"pid":1,"user":"u"},"#
                + #""limits":{"maxFrame":\#(maxFrame)}}}"#)
    }

    @Test("frames are as long as the greeting says, and no longer than 64 MiB")
    mutating func frames() {
        #expect(machine.decoder.frameBytesMax == 1 << 20)
        greet(maxFrame: 4_096)
        #expect(machine.decoder.frameBytesMax == 4_096)
        machine.received([0, 0, 0x10, 1], at: 0)
        guard case .violation? = machine.takeEvent() else {
            Issue.record("a frame beyond the bound")
            return
        }
    }

    @Test("a greeting that promises more than 64 MiB promises 64 MiB")
    mutating func promises() {
        greet(maxFrame: 1 << 40)
        #expect(machine.decoder.frameBytesMax == 64 << 20)
    }

    @Test("values of few bytes each are bounded too, in a frame that is not too long")
    mutating func values() {
        greet(maxFrame: 64 << 20)
        let count = ServerMessageDecoder.entriesMax
        let values = String(repeating: "0,", count: count)
        let reason = Self.violation(
            receive(#"{"jsonrpc":"2.0","id":2,"result":[\#(values)0]}"#))
        #expect(reason?.contains("more values than can be held") == true, "\(reason ?? "none")")
    }

    @Test("new fields without end are a violation, and those of old definitions are forgotten")
    mutating func fields() {
        machine.subscribe(StateSubscribe(form: "f"))
        greet(maxFrame: 64 << 20)
        _ = receive(
            #"{"jsonrpc":"2.0","id":2,"result":{"form":"f","log":"a","revision":1,"context":"","#
                + #""resumed":false,"fields":{}}}"#)
        let value = String(repeating: "v", count: 1 << 20)
        var revision = 1
        func change(_ field: String, _ revision: Int) -> String {
            #"{"field":"\#(field)","value":"\#(value)","revision":\#(revision),"set":true}"#
        }
        // Each definition has other fields.
        for _ in 0..<100 {
            revision += 1
            let events = receive(
                #"{"jsonrpc":"2.0","method":"form.changed","params":{"form":"f","version":1,"#
                    + #""revision":\#(revision),"context":"","definition":{"form":"f","fields":["#
                    + #"{"id":"f\#(revision)","type":"text"}]},"changes":["#
                    + #"\#(change("f\(revision)", revision))]}}"#)
            #expect(Self.violation(events) == nil)
        }
        #expect(machine.fields(of: "f").count == 1)
        var reason: String?
        while reason == nil, revision < 300 {
            revision += 1
            reason = Self.violation(
                receive(
                    #"{"jsonrpc":"2.0","method":"state.changed","params":{"form":"f","revision":"#
                        + #"\#(revision),"context":"","changes":["#
                        + #"\#(change("n\(revision)", revision))]}}"#))
        }
        #expect(reason?.contains("more fields than fit") == true)
        #expect(machine.fields(of: "f").count <= 66)
    }

    @Test("what nobody asked for is not kept: other forms, presence, a second goodbye")
    mutating func unasked() {
        machine.subscribe(StateSubscribe(form: "f"))
        greet(maxFrame: 1 << 20)
        let notes = [
            #""presence.changed","params":{"form":"f","peers":[]}"#,
            #""form.changed","params":{"form":"g","revision":2,"deleted":true}"#,
            #""state.changed","params":{"form":"g","revision":2,"context":"","changes":[]}"#,
            #""of.another.version","params":{}"#,
        ]
        var ignored = 0
        for note in notes {
            let text = #"{"jsonrpc":"2.0","method":\#(note)}"#
            ignored += text.utf8.count
            #expect(receive(text).isEmpty, "\(note)")
            #expect(machine.ignoredBytes == ignored)
        }
        let goodbye = #"{"jsonrpc":"2.0","method":"goodbye","params":{"reason":"restart"}}"#
        #expect(receive(goodbye).count == 1)
        #expect(machine.ignoredBytes == ignored)
        #expect(receive(goodbye).isEmpty)
        #expect(machine.ignoredBytes == ignored + goodbye.utf8.count)
    }

    @Test("an answer to no request is a violation at once, whose text is harmless")
    mutating func strangeAnswer() {
        greet(maxFrame: 1 << 20)
        for id in ["99", #""\u001b[31m""#, "1"] {
            let reason = Self.violation(receive(#"{"jsonrpc":"2.0","id":\#(id),"result":{}}"#))
            #expect(reason?.hasPrefix("an answer to no request") == true, "\(id)")
            #expect(reason?.unicodeScalars.contains { $0.value < 0x20 } == false)
        }
    }
}
