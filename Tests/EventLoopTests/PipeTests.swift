import Glibc
import TestKit
import Testing

@testable import EventLoop

/// Bytes that differ wherever they are cut.
private func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8) &* 31) }
}

/// More than any socket buffer takes at once.
private let largeByteCount = 4 << 20

@Suite struct PipeTests {
    @Test("an echo gives back what was sent, however it was cut")
    func echo() throws {
        let seed = SplitMix64.seed(from: "EVENTLOOP_SEED")
        var random = SplitMix64(seed: seed)
        let sent = pattern(300_000)
        var received: [UInt8] = []
        try withTestLoop { loop in
            let (client, server) = try pipePair(loop)
            server.onRead = { bytes in try? server.write(Array(bytes)) }
            server.onEnd = { try? server.shutdown { _ in server.close() } }
            client.onRead = { bytes in received.append(contentsOf: bytes) }
            client.onEnd = { client.close() }
            try server.readStart()
            try client.readStart()
            var rest = sent[...]
            while !rest.isEmpty {
                let count = min(rest.count, Int.random(in: 1...9_000, using: &random))
                try client.write(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            try client.shutdown()
        }
        #expect(received == sent, "seed \(seed)")
    }

    @Test("a list of segments is written in order, without a copy, and may be empty")
    func segments() throws {
        let chunk = SharedBytes(Array("0123456789".utf8))
        var received: [UInt8] = []
        var completions = 0
        try withTestLoop { loop in
            let (client, server) = try pipePair(loop)
            server.onRead = { received.append(contentsOf: $0) }
            server.onEnd = { server.close() }
            try server.readStart()
            let parts = [chunk.segment(7..<10), chunk.segment(3..<3), chunk.segment(0..<2)]
            #expect(try client.tryWrite(parts) == 5)
            #expect(try client.tryWrite([]) == 0)
            #expect(try client.tryWrite([chunk.segment(4..<4)]) == 0)
            try client.write([chunk.segment]) { error in
                #expect(error == nil)
                completions += 1
            }
            // More than fit in one writev(2).
            try client.write([WriteSegment](repeating: chunk.segment(1..<2), count: 3_000)) { _ in
                completions += 1
                client.close()
            }
        }
        #expect(completions == 2)
        #expect(
            received == Array("789010123456789".utf8)
                + [UInt8](repeating: 49, count: 3_000))
    }

    @Test("a gate bounds what one read delivers, and says when it began; closed, nothing is read")
    func gate() throws {
        let sent = pattern(100_000)
        var received: [UInt8] = []
        var largest = 0
        var heldBack = 0
        try withTestLoop { loop in
            let (client, server) = try pipePair(loop)
            let gate = ReadGate()
            gate.bytesMax = 8192
            server.gate = gate
            let began = Loop.hrtimeNanoseconds
            server.onRead = { bytes in
                received.append(contentsOf: bytes)
                largest = max(largest, bytes.count)
                #expect(gate.readBegan >= began && gate.readBegan <= Loop.hrtimeNanoseconds)
                // Every second time it is closed, and opened again when more has come.
                gate.isClosed = received.count / 8192 % 2 == 1
            }
            server.onHeldBack = {
                heldBack += 1
                #expect(gate.isClosed)
                gate.isClosed = false
                try? server.readStart()
            }
            server.onEnd = { server.close() }
            try server.readStart()
            try client.write(sent) { _ in client.close() }
        }
        #expect(received == sent)
        #expect(largest == 8192)
        #expect(heldBack > 0)
    }

    @Test("a reader that stops slows the writer down, and loses nothing")
    func readerThatStops() throws {
        let sent = pattern(largeByteCount)
        let chunk = SharedBytes(sent)
        var received: [UInt8] = []
        try withTestLoop { loop in
            let (client, server) = try pipePair(loop)
            var isWritten = false
            let taken = try client.tryWrite([chunk.segment])
            #expect(taken > 0 && taken < sent.count, "a socket buffer has an end")
            #expect(try client.tryWrite([chunk.segment(taken..<sent.count)]) == 0)
            try client.write([chunk.segment].droppingFirst(bytes: taken)) { error in
                #expect(error == nil)
                isWritten = true
                client.close()
            }
            #expect(try client.tryWrite([chunk.segment]) == 0, "never past what is queued")
            loop.runIterations(3)
            #expect(!isWritten)
            var reads = 0
            server.onRead = { bytes in
                received.append(contentsOf: bytes)
                reads += 1
                // Stop and go on, from inside the callback.
                guard reads % 3 == 0 else { return }
                server.readStop()
                try? server.readStart()
            }
            server.onEnd = { server.close() }
            try server.readStart()
            try server.readStart()
        }
        #expect(received == sent)
    }

    @Test("reading stops at once, and starts again where it was")
    func readStop() throws {
        var received: [UInt8] = []
        try withTestLoop { loop in
            let (client, server) = try pipePair(loop)
            server.onRead = {
                received.append(contentsOf: $0)
                server.readStop()
            }
            try client.write([1])
            try server.readStart()
            loop.run { !received.isEmpty }
            try client.write([2])
            loop.runIterations(5)
            #expect(received == [1])
            try server.readStart()
            loop.run { received.count == 2 }
            #expect(received == [1, 2])
            client.close()
            server.close()
        }
    }

    @Test("a write under way at close ends with ECANCELED, and holds its bytes until then")
    func writesInFlightAtClose() throws {
        var outcomes: [UVError.Code?] = []
        weak var bytes: SharedBytes?
        try withTestLoop { loop in
            let (client, server) = try pipePair(loop)
            do {
                let chunk = SharedBytes(pattern(largeByteCount))
                bytes = chunk
                for _ in 0..<3 {
                    try client.write([chunk.segment]) { error in
                        #expect(bytes != nil)
                        outcomes.append(error?.code)
                    }
                }
                try client.shutdown { outcomes.append($0?.code) }
            }
            client.close { outcomes.append(.tryAgain) }
            #expect(outcomes.isEmpty)
            #expect(bytes != nil, "the kernel may be given them until the callback")
            server.close()
            loop.run()
        }
        #expect(outcomes == [.canceled, .canceled, .canceled, .canceled, .tryAgain])
        #expect(bytes == nil)
    }

    @Test("a peer that is gone is an error of the write, and no signal")
    func brokenPipe() throws {
        var code: UVError.Code?
        try withTestLoop { loop in
            let (left, right) = try socketPair()
            let client = try Pipe(loop: loop, adopting: OwnedDescriptor(adopting: left))
            close(right)
            waitForHangUp(left)
            #expect(throws: UVError(code: .brokenPipe, operation: "uv_try_write")) {
                try client.tryWrite([SharedBytes([1]).segment])
            }
            try client.write([1, 2, 3]) { error in
                code = error?.code
                client.close()
            }
        }
        #expect(code == .brokenPipe)
    }

    @Test("a peer that left unread bytes behind is an error of the read, told once")
    func connectionReset() throws {
        var errors: [UVError.Code] = []
        var ends = 0
        try withTestLoop { loop in
            let (left, right) = try socketPair()
            let client = try Pipe(loop: loop, adopting: OwnedDescriptor(adopting: left))
            #expect(try client.tryWrite([SharedBytes([1]).segment]) == 1)
            close(right)
            waitForHangUp(left)
            client.onError = {
                errors.append($0.code)
                client.close()
            }
            client.onEnd = {
                ends += 1
                client.close()
            }
            try client.readStart()
        }
        #expect(errors == [.connectionReset])
        #expect(ends == 0)
    }

    @Test("the end is told once, after the last byte, and the other direction stays open")
    func halfClose() throws {
        var events: [String] = []
        try withTestLoop { loop in
            let (client, server) = try pipePair(loop)
            server.onRead = { events.append("server read \($0.count)") }
            server.onEnd = {
                events.append("server end")
                try? server.write([1, 2]) { _ in server.close() }
            }
            client.onRead = { events.append("client read \($0.count)") }
            client.onEnd = {
                events.append("client end")
                client.close()
            }
            try server.readStart()
            try client.readStart()
            try client.write([9])
            try client.shutdown { error in #expect(error == nil) }
        }
        #expect(events == ["server read 1", "server end", "client read 2", "client end"])
    }

    @Test("a pipe closed in its own callback hears nothing more")
    func closeInsideRead() throws {
        var reads = 0
        try withTestLoop { loop in
            let (client, server) = try pipePair(loop)
            server.onRead = { _ in
                reads += 1
                server.close()
                server.readStop()
            }
            server.onEnd = { Issue.record("an end after close") }
            server.onError = { _ in Issue.record("an error after close") }
            try server.readStart()
            try client.write(pattern(200_000)) { _ in client.close() }
        }
        #expect(reads == 1)
    }

    @Test("a closed pipe refuses everything with ECANCELED")
    func afterClose() throws {
        try withTestLoop { loop in
            let (client, server) = try pipePair(loop)
            server.close()
            for turn in 0..<2 {
                client.close()
                #expect(throws: UVError(code: .canceled, operation: "uv_write")) {
                    try client.write([1]) { _ in Issue.record("a completion after a throw") }
                }
                #expect(throws: UVError(code: .canceled, operation: "uv_try_write")) {
                    try client.tryWrite([SharedBytes([1]).segment])
                }
                #expect(throws: UVError(code: .canceled, operation: "uv_shutdown")) {
                    try client.shutdown()
                }
                #expect(throws: UVError(code: .canceled, operation: "uv_read_start")) {
                    try client.readStart()
                }
                if turn == 0 { loop.run() }
            }
        }
    }

    @Test("a second shutdown, and a write after it, are refused and nothing is left behind")
    func refusedRequests() throws {
        try withTestLoop { loop in
            let (client, server) = try pipePair(loop)
            try client.shutdown { _ in
                client.close()
                server.close()
            }
            #expect(throws: UVError.self) {
                try client.shutdown { _ in Issue.record("a completion after a throw") }
            }
            weak var bytes: SharedBytes?
            do {
                let chunk = SharedBytes([1])
                bytes = chunk
                #expect(throws: UVError.self) { try client.write([chunk.segment]) }
            }
            #expect(bytes == nil)
        }
    }

    @Test("a descriptor that is not a stream is refused and closed")
    func notAStream() throws {
        try withTestLoop { loop in
            // O_PATH, open(2), which Swift does not import: a descriptor that is good for no I/O.
            let number = open("/", 0o10_000_000 | O_CLOEXEC)
            #expect(number >= 0)
            #expect(throws: UVError.self) {
                _ = try Pipe(loop: loop, adopting: OwnedDescriptor(adopting: number))
            }
        }
    }

    @Test("200 connections on one loop each get their own bytes")
    func manyConnections() throws {
        let count = 200
        var answers = [[UInt8]](repeating: [], count: count)
        try withTestLoop { loop in
            for index in 0..<count {
                let (client, server) = try pipePair(loop)
                server.onRead = { bytes in try? server.write(Array(bytes)) }
                server.onEnd = { server.close() }
                client.onRead = { bytes in
                    answers[index].append(contentsOf: bytes)
                    if answers[index].count == 1_000 { client.close() }
                }
                try server.readStart()
                try client.readStart()
                try client.write([UInt8](repeating: UInt8(index), count: 1_000))
            }
            #expect(loop.openHandleCount == 2 * count)
        }
        for index in 0..<count {
            #expect(answers[index] == [UInt8](repeating: UInt8(index), count: 1_000))
        }
    }
}

@Suite struct WriteSegmentTests {
    @Test("what is left after any count of bytes is exactly the rest")
    func droppingFirst() {
        let bytes = SharedBytes(Array(0..<12))
        // Every way to cut 12 bytes into three segments, empty ones among them.
        for first in 0...12 {
            for second in first...12 {
                let list = [
                    bytes.segment(0..<first), bytes.segment(first..<second),
                    bytes.segment(second..<12),
                ]
                #expect(list.byteCount == 12)
                for dropped in 0...12 {
                    let rest = list.droppingFirst(bytes: dropped)
                    let left = rest.flatMap { segment in
                        Array(UnsafeRawBufferPointer(start: segment.base, count: segment.count))
                    }
                    #expect(left == Array(UInt8(dropped)..<12))
                    #expect(rest.allSatisfy { $0.count > 0 })
                }
            }
        }
    }

    @Test("shared bytes are the bytes that were given, also none")
    func sharedBytes() {
        #expect(SharedBytes([]).segment.count == 0)
        #expect(SharedBytes([3, 1, 2]).withUnsafeBytes(Array.init) == [3, 1, 2])
    }
}
