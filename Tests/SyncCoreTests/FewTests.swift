import TestKit
import Testing

@testable import SyncCore

/// A list with one element in place does what an array does.
@Suite struct FewTests {
    @Test("it holds what an array holds after the same changes", arguments: 0...4)
    func sameAsArray(count: Int) {
        var few = Few<Int>()
        var array: [Int] = []
        for number in (0..<count).reversed() {
            few.append(number)
            array.append(number)
        }
        #expect(Array(few) == array)
        #expect(few.count == count && few.isEmpty == array.isEmpty)
        #expect(few == Few(array) && Array(few.mapped { $0 * 2 }) == array.map { $0 * 2 })
        #expect(Array(few.sortedDistinct()) == array.sorted())
        for place in few.indices { few[place] += 10 }
        #expect(Array(few) == array.map { $0 + 10 })
        var taken: [Int] = []
        while let last = few.popLast() { taken.append(last) }
        #expect(taken == array.map { $0 + 10 }.reversed() && few.isEmpty)
    }

    @Test("elements that are out go, wherever they are", arguments: 0..<16)
    func removal(out: Int) {
        var few = Few<Int>(0..<4)
        few.removeAll { out & 1 << $0 != 0 }
        #expect(Array(few) == (0..<4).filter { out & 1 << $0 == 0 })
        few.append(9)
        #expect(few.last == 9 && few.count == 5 - out.nonzeroBitCount)
    }

    @Test("a set of indexes takes each once")
    func distinct() {
        var indexes = DistinctIndexes()
        let fresh = [3, 3, 0, 3, 0, 5].map { indexes.insert($0) }
        #expect(fresh == [true, false, true, false, false, true])
    }

    @Test("an index is found by halving, or is not there")
    func sorted() {
        let few: Few<Int> = [1, 4, 9]
        #expect((0...10).filter { few.contains(sorted: $0) } == [1, 4, 9])
        #expect(few.index(ofSorted: 9) == 2 && few.index(ofSorted: 5) == nil)
    }

    @Test("a table and a set of indexes are as a dictionary and a set, whatever is added")
    func indexes() {
        var random = SplitMix64(seed: 20_261_123)
        for _ in 0..<200 {
            var table = IndexTable<Int>()
            var set = DistinctIndexes()
            var expected: [Int: Int] = [:]
            for value in 0..<Int.random(in: 0...40, using: &random) {
                let index = Int.random(in: 0...130, using: &random)
                #expect(set.insert(index) == (expected[index] == nil))
                expected[index] = value
                if let place = table.place(of: index) {
                    table.change(place) { $0 = value }
                } else {
                    table.set(value, at: index)
                }
            }
            #expect(table.isEmpty == expected.isEmpty)
            for index in 0...140 {
                #expect(table.place(of: index).map { table.with($0) { $0 } } == expected[index])
                #expect(set.contains(index) == (expected[index] != nil))
            }
        }
    }
}
