/// Finds options of one picker that another one does not have.
///
/// Each tag of a form gets a number once, so that a comparison of two lists needs no look-up for
/// each option: a hundred pickers with a hundred `sources` are compared ten thousand times.
struct TagNumbers {
    private var strings: [String: Int32] = [:]
    private var integers: [Int64: Int32] = [:]
    /// The numbers of a list's tags, in its order, by the list.
    private var lists: [ObjectIdentifier: (list: OptionList, numbers: [Int32])] = [:]
    /// By the number of a tag: the last comparison whose outer list has it.
    private var marks: [Int32] = []
    private var comparisons: Int32 = 0

    /// An outer list that is longer by this factor is searched: to mark it would take longer.
    private static var longerMax: Int { 8 }

    /// The place of the first option of `own` that can be picked and is none of `outer` that can
    /// be; `nil` if there is none.
    mutating func stranger(of own: OptionList, in outer: OptionList) -> Int? {
        guard own.tagType == outer.tagType else { return own.enabled.first }
        if outer.count > Self.longerMax * own.count {
            // By place: a copy of each option is most of the work where there are many.
            return own.enabled.first { place in
                guard let other = outer.index(of: own.options[place].tag) else { return true }
                return outer.options[other].isDisabled
            }
        }
        let mine = numbers(of: own)
        let theirs = numbers(of: outer)
        comparisons += 1
        for place in outer.enabled { marks[Int(theirs[place])] = comparisons }
        return own.enabled.first { marks[Int(mine[$0])] != comparisons }
    }

    private mutating func numbers(of list: OptionList) -> [Int32] {
        if let known = lists[ObjectIdentifier(list)] { return known.numbers }
        let numbers = list.options.map { number(of: $0.tag) }
        lists[ObjectIdentifier(list)] = (list, numbers)
        return numbers
    }

    /// The number of a tag, which is equal to another in the sense of `OptionList.index(of:)`.
    private mutating func number(of tag: JSON) -> Int32 {
        let next = Int32(marks.count)
        let known: Int32? =
            switch tag {
            case .string(let text): strings[text, orSet: next]
            case .bool(let flag): integers[flag ? 1 : 0, orSet: next]
            default: tag.integerValue.flatMap { integers[$0, orSet: next] }
            }
        if let known { return known }
        marks.append(0)
        return next
    }
}

extension Dictionary {
    /// The value of a key; `nil` if it had none and has `value` now.
    fileprivate subscript(key: Key, orSet value: Value) -> Value? {
        mutating get {
            if let known = self[key] { return known }
            self[key] = value
            return nil
        }
    }
}
