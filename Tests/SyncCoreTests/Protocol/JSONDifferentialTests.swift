import Foundation
import SyncCore
import Testing

/// Our parser against Foundation's, on documents that both must take.
///
/// Known differences, left out here: Foundation takes trailing commas and keeps one of two equal
/// names; it refuses some zeros with exponents; it keeps numbers as doubles.
@Suite("The JSON parser against Foundation's")
struct JSONDifferentialTests {
    @Test("both read the same from the same text")
    func sameValues() throws {
        var random = ProtocolRandom(seed: ProtocolRandom.seed)
        for _ in 0..<2000 {
            let text = random.written(random.tree())
            let ours = try JSON(parsing: text)
            let theirs = try JSONSerialization.jsonObject(
                with: Data(text.utf8), options: .fragmentsAllowed)
            #expect(isSame(ours, theirs), "seed \(ProtocolRandom.seed): \(text)")
        }
    }

    @Test("Foundation reads what we write")
    func readsOurs() throws {
        var random = ProtocolRandom(seed: ProtocolRandom.seed)
        for _ in 0..<2000 {
            let tree = random.tree()
            for text in [tree.encodedText, tree.prettyText] {
                let theirs = try JSONSerialization.jsonObject(
                    with: Data(text.utf8), options: .fragmentsAllowed)
                #expect(isSame(tree, theirs), "seed \(ProtocolRandom.seed): \(text)")
            }
        }
    }

    @Test("what we take of damaged text, Foundation takes too")
    func noMoreThanTheirs() {
        var random = ProtocolRandom(seed: ProtocolRandom.seed)
        for _ in 0..<10_000 {
            let bytes = random.mutated(Array(random.written(random.tree(depth: 2)).utf8))
            guard let ours = try? JSON(parsing: bytes), !hasOddZero(bytes) else { continue }
            let theirs = try? JSONSerialization.jsonObject(
                with: Data(bytes), options: .fragmentsAllowed)
            #expect(
                theirs.map { isSame(ours, $0) } == true,
                "seed \(ProtocolRandom.seed): \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    private func hasOddZero(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        return text.contains("0e")
    }

    private func isSame(_ ours: JSON, _ theirs: Any) -> Bool {
        switch ours {
        case .null: return theirs is NSNull
        case .bool(let flag): return (theirs as? Bool) == flag
        case .number(let number):
            guard let other = theirs as? NSNumber else { return false }
            if let whole = number.integer, other.int64Value == whole { return true }
            guard let double = Double(number.description) else { return false }
            return abs(other.doubleValue - double) <= abs(double) * 1e-14
        case .string(let text):
            return (theirs as? String).map { $0.unicodeScalars.elementsEqual(text.unicodeScalars) }
                ?? false
        case .array(let elements):
            guard let others = theirs as? [Any], others.count == elements.count else {
                return false
            }
            return zip(elements, others).allSatisfy { isSame($0, $1) }
        case .object(let object):
            // Swift's dictionaries take canonically equivalent names for one.
            let distinct = Set(object.members.map(\.name))
            guard let others = theirs as? [String: Any] else { return false }
            if distinct.count != object.count { return true }
            return others.count == object.count
                && object.members.allSatisfy { member in
                    others[member.name].map { isSame(member.value, $0) } ?? false
                }
        }
    }
}
