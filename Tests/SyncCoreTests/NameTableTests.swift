import Testing

@testable import SyncCore

/// The table that finds names by their bytes, against a dictionary.
@Suite("Names by their bytes")
struct NameTableTests {
    @Test("a table holds what a dictionary of bytes holds")
    func againstDictionary() {
        var random = ProtocolRandom(seed: ProtocolRandom.seed)
        let names = [
            "", "a", "aa", "ab", "abc", "abd", "abcd", "abce", "abcde", "abdde", "b", "field-0",
            "field-00", "field-01", "field-010", "field-011",
            "field-0\0", "field-0\0\0", "é", "e\u{301}", "aaaaaaaa", "aaaaaaaab", "aaaaaaaaa\0",
        ]
        var table = NameTable<Int>()
        var expected: [[UInt8]: Int] = [:]
        for number in 0..<2000 {
            let name = names.randomElement(using: &random)!
            let value = Bool.random(using: &random) ? number : nil
            table[name] = value
            expected[Array(name.utf8)] = value
            let isSame = names.allSatisfy { table[$0] == expected[Array($0.utf8)] }
            #expect(isSame, "seed \(ProtocolRandom.seed)")
        }
    }

    @Test("a table of many names at once finds each of them, and no other")
    func atOnce() {
        let names = (0..<1000).map { "field-\($0)" }
        let table = NameTable(zip(names.reversed(), 0...))
        #expect(names.enumerated().allSatisfy { table[$1] == 999 - $0 })
        #expect(table["field-1000"] == nil && table["field"] == nil && table[""] == nil)
    }
}
