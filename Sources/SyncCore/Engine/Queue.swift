/// A first-in, first-out queue: an array with an index of its first element.
///
/// Removal does not move the other elements each time. Capacity for many elements is released when
/// the queue is empty.
package struct Queue<Element> {
    private var elements: [Element] = []
    private var head = 0
    private static var keptMax: Int { 128 }

    package init() {}

    package var isEmpty: Bool { head == elements.count }

    package var count: Int { elements.count - head }

    package var first: Element? { isEmpty ? nil : elements[head] }

    package mutating func append(_ element: Element) { elements.append(element) }

    /// Removes up to `wanted` elements from the front, one by one.
    mutating func take(_ wanted: Int, _ body: (Element) -> Void) {
        let end = min(head + wanted, elements.count)
        for place in head..<end { body(elements[place]) }
        head = end
        if head == elements.count {
            elements.removeAll(keepingCapacity: elements.capacity <= Self.keptMax)
            head = 0
        } else if head > 1024, head > elements.count / 2 {
            elements.removeFirst(head)
            head = 0
        }
    }

    /// Removes the first element.
    package mutating func takeFirst() -> Element? {
        var first: Element?
        take(1) { first = $0 }
        return first
    }
}

extension Queue: Sendable where Element: Sendable {}
