// Lists that nearly always have one element.

/// A list with its first element stored inline, so that a list of one allocates nothing. Nearly
/// every edit names, writes and notifies one field.
struct Few<Element>: RandomAccessCollection, ExpressibleByArrayLiteral {
    /// `nil` if the list is empty; `others` is `nil` then.
    private var head: Element?
    /// The elements after the first one; `nil` instead of an empty array, which would be retained
    /// and released with each copy of the list.
    private var others: [Element]?

    /// The empty list.
    init() {}

    /// The list of one element.
    init(only: consuming Element) {
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

    @inline(__always) var endIndex: Int { head == nil ? 0 : 1 + (others?.count ?? 0) }

    @inline(__always) var isEmpty: Bool { head == nil }

    @inline(__always) var count: Int { endIndex }

    // No copy, because an element may have lists of its own, and a copy retains each. Always
    // inlined, or the coroutine allocates its frame.
    subscript(index: Int) -> Element {
        @inline(__always) _read {
            if index > 0 { yield others![index - 1] } else { yield head! }
        }
        @inline(__always) _modify {
            if index > 0 { yield &others![index - 1] } else { yield &head! }
        }
    }

    /// A copy of the element at an index, without the coroutine of the subscript.
    @inline(__always) func element(_ place: Int) -> Element {
        place > 0 ? others![place - 1] : head!
    }

    /// The result of `body` for the element at an index. What it does not take is not copied.
    @inline(__always) func with<Result>(_ place: Int, _ body: (Element) -> Result) -> Result {
        place > 0 ? body(others![place - 1]) : body(head!)
    }

    /// Changes the element at an index, without the coroutine of the subscript.
    @inline(__always) mutating func change(_ place: Int, _ body: (inout Element) -> Void) {
        if place > 0 { body(&others![place - 1]) } else { body(&head!) }
    }

    /// Replaces the element at an index, without the coroutine of the subscript.
    @inline(__always) mutating func replace(_ place: Int, by element: consuming Element) {
        if place > 0 { others![place - 1] = element } else { head = element }
    }

    /// As of any collection, without the coroutine of the subscript.
    @inline(__always) func allSatisfy(_ isTrue: (Element) -> Bool) -> Bool {
        guard let head else { return true }
        return isTrue(head) && others?.allSatisfy(isTrue) ?? true
    }

    /// Adds an element after all others.
    mutating func append(_ element: consuming Element) {
        if head == nil {
            head = element
        } else if others == nil {
            others = [element]
        } else {
            others!.append(element)
        }
    }

    /// Removes the last element.
    mutating func popLast() -> Element? {
        defer { if others == nil { head = nil } else if others!.isEmpty { others = nil } }
        return others?.popLast() ?? head
    }

    /// Removes the elements that satisfy a condition.
    mutating func removeAll(where isGone: (Element) -> Bool) {
        self = Few(filter { !isGone($0) })
    }

    /// The results of `transform` for each element.
    func mapped<Other>(_ transform: (Element) -> Other) -> Few<Other> {
        var other = Few<Other>()
        for place in 0..<count { other.append(transform(element(place))) }
        return other
    }
}

extension Few: Equatable where Element: Equatable {}

extension Few: Hashable where Element: Hashable {}

extension Few: Sendable where Element: Sendable {}

extension Few where Element: Comparable {
    /// The elements, ascending and each once.
    func sortedDistinct() -> Few { others == nil ? self : Few(Array(self).sortedDistinct()) }
}

/// A set of indexes with the first one stored inline, because most sets have one.
struct DistinctIndexes {
    private var head = -1
    /// One bit for each possible other index.
    private var others: [UInt64] = []

    /// Adds an index, which must not be negative. Returns whether it is new.
    mutating func insert(_ index: Int) -> Bool {
        if head < 0 {
            head = index
            return true
        }
        if contains(index) { return false }
        let word = index >> 6
        if word >= others.count {
            others += repeatElement(0, count: word + 1 - others.count)
        }
        others[word] |= 1 << UInt64(index & 63)
        return true
    }

    /// Whether an index was added.
    func contains(_ index: Int) -> Bool {
        if index == head { return true }
        let word = index >> 6
        return word < others.count && others[word] >> UInt64(index & 63) & 1 == 1
    }
}

/// Values by index, in order of insertion. The first is stored inline, as in `Few`. A table finds
/// the others, because a transaction looks them up thousands of times.
struct IndexTable<Value> {
    private var first = -1
    /// The places in `values` by index. 0 means none, because `first` has place 0.
    private var places: [Int32] = []
    private var values = Few<Value>()

    @inline(__always) var isEmpty: Bool { first < 0 }

    /// The place of an index in `values`.
    @inline(__always) func place(of index: Int) -> Int? {
        if index == first { return 0 }
        guard index < places.count else { return nil }
        let place = Int(places[index])
        return place == 0 ? nil : place
    }

    /// The result of `body` for the value of a place.
    @inline(__always) func with<Result>(_ place: Int, _ body: (Value) -> Result) -> Result {
        values.with(place, body)
    }

    /// Changes the value of a place.
    @inline(__always) mutating func change(_ place: Int, _ body: (inout Value) -> Void) {
        values.change(place, body)
    }

    /// Sets the value of an index, which is not negative.
    mutating func set(_ value: consuming Value, at index: Int) {
        if let place = place(of: index) { return values.replace(place, by: value) }
        if first < 0 {
            first = index
        } else {
            if index >= places.count {
                places += repeatElement(0, count: index + 1 - places.count)
            }
            places[index] = Int32(values.count)
        }
        values.append(value)
    }
}
