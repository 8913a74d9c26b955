/// A first-in, first-out queue: an array with an index of its first element.
///
/// Removal does not move the other elements each time, and releases what it removes at once.
/// Capacity for many elements is released when the queue is empty. Index 0 is the oldest element.
package struct Queue<Element>: RandomAccessCollection {
    /// The elements from `head` on; the places before it are `nil`.
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var head = 0
    /// The number of elements for which an empty queue keeps its memory.
    @usableFromInline static var keptMax: Int { 128 }
    /// The number of removed elements whose places are always kept.
    @usableFromInline static var removedMax: Int { 64 }

    @inlinable package init() {}

    package var startIndex: Int { 0 }

    package var endIndex: Int { elements.count - head }

    package subscript(place: Int) -> Element {
        get { elements[head + place]! }
        _modify { yield &elements[head + place]! }
    }

    /// Adds an element after all others.
    @inlinable package mutating func append(_ element: consuming Element) {
        elements.append(element)
    }

    /// Removes up to `wanted` elements from the front, one by one.
    mutating func take(_ wanted: Int, _ body: (Element) -> Void) {
        let end = Swift.min(head + wanted, elements.count)
        while head < end {
            if let element = elements[head].take() { body(element) }
            head += 1
        }
        removeTaken()
    }

    /// Removes the places of removed elements now and then, which costs little for each.
    @inlinable @inline(__always)
    mutating func removeTaken() {
        if head == elements.count {
            elements.removeAll(keepingCapacity: elements.capacity <= Self.keptMax)
            head = 0
        } else if head > Self.removedMax, head > elements.count / 2 {
            elements.removeFirst(head)
            head = 0
        }
    }

    @inlinable @discardableResult package mutating func takeFirst() -> Element? {
        // Most calls ask an empty queue, in each iteration of a loop.
        if head == elements.count { return nil }
        let first = elements[head].take()
        head += 1
        removeTaken()
        return first
    }

    mutating func removeLast(_ count: Int) {
        elements.removeLast(count)
        removeTaken()
    }

    /// Removes the elements that satisfy a condition.
    mutating func removeAll(where isGone: (Element) -> Bool) {
        elements = elements[head...].filter { $0.map { !isGone($0) } ?? false }
        head = 0
    }
}

extension Queue: Sendable where Element: Sendable {}
