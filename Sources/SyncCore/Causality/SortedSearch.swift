extension RandomAccessCollection where Index == Int {
    /// The index of the first element that satisfies a condition, by binary search; the end index
    /// if none does. All elements after one that satisfies the condition must satisfy it too.
    ///
    /// Always inlined, because hot paths search in arrays of a few elements.
    @inlinable @inline(__always)
    package func partitionIndex(where belongsAfter: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if belongsAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension RandomAccessCollection<Int> where Index == Int {
    /// Whether the ascending list contains the element.
    func contains(sorted element: Int) -> Bool { index(ofSorted: element) != nil }

    /// The index of the element in the ascending list; `nil` if it is not there.
    func index(ofSorted element: Int) -> Int? {
        let place = partitionIndex { $0 >= element }
        return place < endIndex && self[place] == element ? place : nil
    }
}
