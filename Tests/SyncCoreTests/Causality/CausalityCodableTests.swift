// The binary form: what goes in comes out, and no bytes trap.

import Simulation
import SyncCore
import Testing

@Suite("Causality: binary form")
struct CausalityCodableTests {
    /// A form that has been edited at random, with all kinds of stores.
    private func form(_ seed: UInt64, edits: Int) -> CausalForm {
        var random = CausalityRandom(seed: seed)
        var form = CausalForm()
        let replicas = [replicaA, replicaB, ReplicaID(id: ReplicaID.idMax, epoch: .max)]
        for edit in 0..<edits {
            let replica = replicas[random.below(3)]
            guard let dot = form.context.nextDot(for: replica) else { continue }
            let skipped = Dot(dot.replica, dot.counter + UInt64(random.below(2)))
            let field = TrialField.allCases[random.below(TrialField.allCases.count)]
            _ = TrialEdit(field: field, variant: random.below(4), number: edit).apply(
                to: &form, dot: skipped, stamp: stamp(Int64(random.below(1000)) - 500),
                seen: random.chance(50) ? .present : .context(CausalContext()))
        }
        return form
    }

    @Test("a form comes back as it was, and its fields and context on their own")
    func roundTrip() throws {
        for seed in CausalityRandom.seeds(50) {
            let form = form(seed, edits: 40)
            #expect(try CausalForm(decoding: form.encoded) == form, "seed \(seed)")
            #expect(try CausalContext(decoding: form.context.encoded) == form.context)
            for field in form.fields {
                #expect(try FieldStore(decoding: field.store.encoded) == field.store)
            }
        }
        for kind in FieldStore.Kind.allCases {
            let empty = FieldStore(kind)
            #expect(try FieldStore(decoding: empty.encoded) == empty && empty.isEmpty)
        }
        for (_, context) in CausalContextTests.all {
            #expect(try CausalContext(decoding: context.encoded) == context)
        }
    }

    @Test("values, numbers and authors come back to the last byte")
    func payloads() throws {
        let number = try #require(DecimalNumber(significand: -30, exponent: -2))
        let values: [JSON?] = [
            nil, JSON.null, true, "e\u{301}\u{0}\n", [1, ["a": [.null, false]]], .number(number),
            .integer(Int64.min), .integer(Int64.max), "", [], .object(JSONObject()),
        ]
        for value in values {
            let author = Author(
                user: "m\u{e4}ry", uid: .max, client: nil, tty: "/dev/pts/3",
                connection: .max, replica: ReplicaID(id: 0, epoch: 0))
            let written = Written(value: value, author: author)
            let back = try Written(decoding: written.encoded)
            #expect(back == written)
            #expect(back.value?.encodedText == value?.encodedText)
        }
        for significand: Int64 in [0, 1, -1, 999_999_999_999_999, .max, .min] {
            for exponent in -15...15 {
                guard
                    let number = DecimalNumber(
                        significand: Int128(significand), exponent: exponent)
                else { continue }
                let back = try DecimalNumber(decoding: number.encoded)
                #expect(back == number && back.exponent == number.exponent)
                let written = written(.number(number))
                #expect(try Written(decoding: written.encoded) == written, "\(number)")
            }
        }
        for stamp in [stamp(.min), HybridTimestamp(milliseconds: .max, logical: .max)] {
            #expect(try HybridTimestamp(decoding: stamp.encoded) == stamp)
        }
    }

    @Test("bytes that end early are refused at every length, and so is a byte too many")
    func truncated() {
        let bytes = form(7, edits: 60).encoded
        for length in bytes.indices {
            #expect(throws: CausalityDecodeError.self) {
                try CausalForm(decoding: Array(bytes[..<length]))
            }
        }
        #expect(throws: CausalityDecodeError.trailing(offset: bytes.count)) {
            try CausalForm(decoding: bytes + [0])
        }
        #expect(throws: CausalityDecodeError.truncated(offset: 0)) {
            try CausalForm(decoding: [])
        }
        #expect(throws: CausalityDecodeError.unsupportedVersion(3)) {
            try CausalForm(decoding: [3] + bytes.dropFirst())
        }
    }

    @Test("flipped bytes are refused, or are another form that comes back as it is")
    func mutated() throws {
        var refused = 0
        for seed in CausalityRandom.seeds(4) {
            var random = CausalityRandom(seed: seed)
            let bytes = form(seed, edits: 30).encoded
            for position in bytes.indices {
                var mutant = bytes
                mutant[position] = UInt8(random.below(256))
                if random.chance(30) { mutant[random.below(mutant.count)] ^= 0x80 }
                do throws(CausalityDecodeError) {
                    let form = try CausalForm(decoding: mutant)
                    let again = try CausalForm(decoding: form.encoded)
                    #expect(again == form, "seed \(seed), byte \(position)")
                    _ = form.joined(self.form(seed, edits: 3))
                } catch {
                    refused += 1
                }
            }
        }
        #expect(refused > 0)
    }

    @Test("random bytes and forged counts are refused without taking memory")
    func hostile() {
        var random = CausalityRandom(seed: 1)
        for _ in 0..<2000 {
            let bytes = [1] + (0..<random.below(40)).map { _ in UInt8(random.below(256)) }
            _ = try? CausalForm(decoding: bytes)
            for kind in 1...6 { _ = try? FieldStore(decoding: [1, UInt8(kind)] + bytes) }
        }
        let huge: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]
        #expect(throws: CausalityDecodeError.self) { try CausalContext(decoding: [1] + huge) }
        #expect(throws: CausalityDecodeError.self) {
            try FieldStore(decoding: [1, 6, 1, 1, 1, 1, 0, 0, 1] + huge)
        }
        let overlong: [[UInt8]] = [
            [0x80, 0x00], huge.dropLast() + [0x02], huge.dropLast() + [0x81],
        ]
        for bytes in overlong {
            #expect(throws: CausalityDecodeError.self) { try CausalContext(decoding: [1] + bytes) }
        }
    }

    @Test("what breaks a rule of its type is refused")
    func rules() {
        // A context is: version, entries, loose dots; a dot is id, epoch, counter.
        let broken: [[UInt8]] = [
            [1, 2, 11, 1, 1, 10, 1, 1, 0],  // entries out of order
            [1, 2, 10, 1, 1, 10, 1, 2, 0],  // a replica twice
            [1, 1, 10, 1, 0, 0],  // counter 0
            [1, 1, 10, 1, 1, 1, 10, 1, 2],  // a loose dot that touches
            [1, 0, 2, 10, 1, 5, 10, 1, 3],  // loose dots out of order
            [1, 0, 2, 10, 1, 5, 10, 1, 5],  // a loose dot twice
        ]
        for bytes in broken {
            #expect(throws: CausalityDecodeError.self, "\(bytes)") {
                try CausalContext(decoding: bytes)
            }
        }
        // A form whose field holds a dot that the context has not seen; fields out of order.
        let presses: [UInt8] = [1, 0x62, 5, 1, 10, 1, 1, 3]
        #expect(throws: Never.self) { try CausalForm(decoding: [1, 1, 10, 1, 1, 0, 1] + presses) }
        #expect(throws: CausalityDecodeError.self) {
            try CausalForm(decoding: [1, 0, 0, 1] + presses)
        }
        #expect(throws: CausalityDecodeError.self) {
            try CausalForm(decoding: [1, 1, 10, 1, 1, 0, 2] + presses + presses)
        }
        #expect(throws: CausalityDecodeError.self, "an empty field") {
            try CausalForm(decoding: [1, 1, 10, 1, 1, 0, 1, 1, 0x62, 5, 0])
        }
    }
}
