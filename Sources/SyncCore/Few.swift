// Lists that nearly always have one element.

/// A list whose first element is kept in place, so that a list of one allocates nothing: an edit
/// names, writes and tells one field nearly always.
struct Few<Element>: RandomAccessCollection, ExpressibleByArrayLiteral {
    /// `nil` where the list is empty; `others` is empty then.
    private var head: Element?
    private var others: [Element] = []

    /// The empty list.
    init() {}

    /// The list of one element.
    init(only: Element) {
        head = only
    }

    /// The elements of a sequence, in its order.
    init(_ elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }

    init(arrayLiteral elements: Element...) {
        self.init(elements)
    }

    var startIndex: Int { 0 }

    @inline(__always) var endIndex: Int { head == nil ? 0 : 1 + others.count }

    @inline(__always) var isEmpty: Bool { head == nil }

    @inline(__always) var count: Int { endIndex }

    // In place: an element may have lists of its own, and a copy is a retain for each. Always
    // inlined, or a coroutine allocates its frame.
    subscript(index: Int) -> Element {
        @inline(__always) _read {
            if index > 0 { yield others[index - 1] } else { yield head! }
        }
        @inline(__always) _modify {
            if index > 0 { yield &others[index - 1] } else { yield &head! }
        }
    }

    /// Adds an element behind the others.
    mutating func append(_ element: Element) {
        if head == nil { head = element } else { others.append(element) }
    }

    /// Takes the last element out.
    mutating func popLast() -> Element? {
        if let last = others.popLast() { return last }
        defer { head = nil }
        return head
    }

    /// Takes out the elements that fulfil a condition.
    mutating func removeAll(where isOut: (Element) -> Bool) {
        others.removeAll(where: isOut)
        if let first = head, isOut(first) { head = others.isEmpty ? nil : others.removeFirst() }
    }

    /// The list of what `transform` makes of each element.
    func mapped<Other>(_ transform: (Element) -> Other) -> Few<Other> {
        var other = Few<Other>()
        for place in indices { other.append(transform(self[place])) }
        return other
    }
}

extension Few: Equatable where Element: Equatable {}

extension Few: Sendable where Element: Sendable {}

extension Few where Element: Comparable {
    /// The elements, ascending and each once.
    func sortedDistinct() -> Few { others.isEmpty ? self : Few(Array(self).sortedDistinct()) }
}

/// A set of indexes of which the first is kept in place: a `Set` of one is an allocation and a
/// hash.
struct DistinctIndexes {
    private var head = -1
    private var others: Set<Int> = []

    /// Adds an index, which is not negative; whether it was not there.
    mutating func insert(_ index: Int) -> Bool {
        if head < 0 {
            head = index
            return true
        }
        return index != head && others.insert(index).inserted
    }

    /// Whether an index was added.
    func contains(_ index: Int) -> Bool {
        index == head || !others.isEmpty && others.contains(index)
    }
}
