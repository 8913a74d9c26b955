import SyncCore
import Testing

@Suite("The frame decoder")
struct FrameDecoderTests {
    private let texts = ["{}", "[1,2,3]", "1", #"{"a":"bcdefghijklmnop"}"#].map { Array($0.utf8) }

    private var stream: [UInt8] { texts.flatMap { Frame.encode(text: $0) } }

    @Test("gives the same frames at every split in two and in three")
    func everySplit() {
        let stream = stream
        for first in 0...stream.count {
            for second in first...stream.count {
                var decoder = FrameDecoder()
                var frames: [[UInt8]] = []
                for piece in [stream[..<first], stream[first..<second], stream[second...]] {
                    let (some, outcome) = decoder.feed(Array(piece))
                    frames += some
                    #expect(outcome == .needsMore)
                }
                #expect(frames == texts && decoder.isBetweenFrames, "split at \(first), \(second)")
            }
        }
    }

    @Test("gives the same frames byte by byte")
    func byteByByte() {
        var decoder = FrameDecoder()
        var frames: [[UInt8]] = []
        for byte in stream { frames += decoder.feed([byte]).frames }
        #expect(frames == texts)
    }

    @Test("copies no frame that lies whole in a piece")
    func inPlace() {
        var decoder = FrameDecoder()
        stream.withUnsafeBytes { piece in
            let bounds = piece.baseAddress!..<piece.baseAddress! + piece.count
            _ = decoder.feed(piece) { frame in
                #expect(bounds.contains(frame.baseAddress!))
                return true
            }
        }
    }

    @Test(
        "refuses a length of 0 or over the largest for ever, and keeps nothing",
        arguments: [
            UInt32(0), 65, 1 << 20, .max,
        ])
    func tooLarge(_ length: UInt32) {
        let header = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> UInt32($0)) }
        for split in 0...4 {
            var decoder = FrameDecoder(frameBytesMax: 64)
            let before = Frame.encode(text: Array("{}".utf8))
            #expect(decoder.feed(before).frames.count == 1)
            _ = decoder.feed(Array(header[..<split]))
            #expect(decoder.feed(Array(header[split...])).outcome == .frameTooLarge(length: length))
            let (frames, outcome) = decoder.feed(before)
            #expect(frames.isEmpty && outcome == .frameTooLarge(length: length))
            #expect(decoder.gatheredBytes == 0 && !decoder.isBetweenFrames)
        }
    }

    @Test("takes the largest frame")
    func largest() {
        var decoder = FrameDecoder(frameBytesMax: 64)
        let text = [UInt8](repeating: 0x31, count: 64)
        #expect(decoder.feed(Frame.encode(text: text)).frames == [text])
    }

    @Test("takes memory for the bytes that came, not for those announced")
    func halfFrame() {
        var decoder = FrameDecoder()
        _ = decoder.feed([0, 0x0F, 0xFF, 0xFF, 0x7B])
        #expect(decoder.gatheredBytes == 1 && !decoder.isBetweenFrames)
    }

    @Test("stops when asked to, and continues with the rest")
    func stops() {
        var decoder = FrameDecoder()
        var frames: [[UInt8]] = []
        var rest = stream
        for _ in texts {
            let outcome = rest.withUnsafeBytes { piece in
                decoder.feed(piece) { frame in
                    frames.append(Array(frame))
                    return false
                }
            }
            guard case .stopped(let consumed) = outcome else {
                Issue.record("the receiver asked to stop")
                return
            }
            rest.removeFirst(consumed)
        }
        #expect(frames == texts && rest.isEmpty)
    }

    @Test("a frame is a length and a text")
    func encodes() {
        #expect(
            Frame.encode { $0.value(["a": 1]) } == [0, 0, 0, 7] + Array(#"{"a":1}"#.utf8))
        #expect(Frame.encode(text: Array("null".utf8)) == [0, 0, 0, 4] + Array("null".utf8))
    }
}
