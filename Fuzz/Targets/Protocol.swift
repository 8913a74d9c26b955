internal import SyncCore

// Bytes of peers: frames, JSON, requests, tokens.

/// However a stream is cut, the same frames come out of it.
func fuzzFrames(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let stream = Array(bytes.dropFirst())
    var whole = FrameDecoder(frameBytesMax: 4096)
    let expected = whole.feed(stream)
    // The first byte says how the stream is cut.
    let step = Int(first) % 23 + 1
    var pieces = FrameDecoder(frameBytesMax: 4096)
    var frames: [[UInt8]] = []
    var outcome = FrameDecoder.Outcome.needsMore
    for start in stride(from: 0, to: stream.count, by: step) {
        let fed = pieces.feed(Array(stream[start..<min(start + step, stream.count)]))
        frames += fed.frames
        outcome = fed.outcome
        law(pieces.gatheredBytes <= 4096, "no more is kept than a frame may have")
    }
    law(frames == expected.frames, "the frames do not depend on the pieces")
    law(outcome == expected.outcome || stream.isEmpty, "nor does what came of them")
    law(
        whole.isBetweenFrames == pieces.isBetweenFrames,
        "nor whether the stream may end here")
}

/// What is read is written so that it is read the same.
func fuzzJSON(_ bytes: [UInt8]) {
    guard let value = try? JSON(parsing: bytes) else { return }
    let written = value.encoded
    guard let again = try? JSON(parsing: written) else {
        return law(false, "what was written is not JSON")
    }
    law(again == value && again.encoded == written, "what was written reads otherwise")
    guard let pretty = try? JSON(parsing: value.prettyText) else {
        return law(false, "what was written for people is not JSON")
    }
    law(pretty == value, "what was written for people reads otherwise")
}

/// A request that is understood is the same after it was said again.
func fuzzRequests(_ bytes: [UInt8]) {
    var decoder = MessageDecoder()
    let frame = decoder.decode(bytes)
    law(decoder.decode(bytes) == frame, "a decoder that is used again decodes the same")
    let calls: [Call]
    switch frame {
    case .single(let call): calls = [call]
    case .batch(let batch): calls = batch
    case .refused: return
    }
    for call in calls {
        guard case .success(let request) = call.content else { continue }
        var writer = JSONWriter()
        request.encode(id: call.id, into: &writer)
        guard case .single(let again) = decoder.decode(writer.bytes) else {
            return law(false, "a request that was said again is not a request")
        }
        law(again.id == call.id, "its id changed")
        law(again.content == .success(request), "it is another request")
    }
}

/// A token has one spelling.
func fuzzTokens(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let context = try? ContextToken.parse(text) else { return }
    law(ContextToken.render(context).isSameBytes(as: text), "a token has a second spelling")
    var joined = context
    joined.formUnion(context)
    law(joined == context, "uniting with oneself changes nothing")
}
