// Options of pickers and rows of wheels: short forms, groups, tags.

extension FormParser {
    private static let optionKeys: KnownNames = [
        "tag", "label", "subtitle", "symbol", "symbolName", "tint", "disabled",
    ]

    /// The options read so far.
    fileprivate struct Draft {
        var options: [PickerOption] = []
        var groups: [OptionGroup] = []
        /// Where each tag is.
        var strings: [String: Int] = [:]
        var integers: [Int64: Int] = [:]
        var tagType: TagType?
        var isBroken = false
    }

    /// The options at `members[name]`; `nil`, with an issue, if they are not a valid list.
    ///
    /// - Parameter known: options that give their labels to tags without one.
    mutating func options(
        _ members: Members, _ name: String, takingLabelsFrom known: OptionList? = nil
    ) -> OptionList? {
        guard let json = members[name] else {
            issue(members.place, "\(name) are missing", expected: "\(name): a list of tags")
            return nil
        }
        let place = members.place(of: name)
        guard case .array(let written) = json else {
            issue(
                place, "found \(FormDefinition.described(json))",
                expected: "a list of options")
            return nil
        }
        var draft = Draft()
        if written.isEmpty {
            issue(place, "the list of options is empty", expected: "at least one option")
            return nil
        }
        draft.options.reserveCapacity(written.count)
        // Memory is reserved only for integers: only they are so short that a definition can
        // contain very many distinct ones.
        if (written[0]["tag"] ?? written[0]).integerValue != nil {
            draft.integers.reserveCapacity(min(written.count, limits.optionsMax))
        }
        for (element, place) in zip(written, place.elements(written.count)) {
            if case .object(let object) = element {
                let members = Members(object: object, place: place)
                if members["section"] != nil {
                    group(members, known, into: &draft)
                    continue
                }
                option(members, into: &draft)
            } else {
                option(element, at: place, known, into: &draft)
            }
            draft.extendUntitledGroup()
        }
        optionCount += draft.options.count
        if optionCount > limits.optionsMax {
            issue(
                place, "the form has \(optionCount) options",
                expected: "at most \(limits.optionsMax)")
            return nil
        }
        guard !draft.isBroken, !draft.options.isEmpty else { return nil }
        return OptionList(
            options: draft.options, groups: draft.groups, strings: draft.strings,
            integers: draft.integers)
    }

    /// The options of a picker that has the same ones in the previous definition. Nothing but the
    /// list as written decides what the options are, so that the list may be shared.
    mutating func knownOptions(_ field: Members) -> OptionList? {
        guard let previous, let id = field["id"]?.stringValue, let known = previous.index(of: id),
            let list = previous.controls[known].options,
            optionCount + list.count <= limits.optionsMax,
            let written = field["options"], written == previous.written(known)?["options"]
        else { return nil }
        optionCount += list.count
        return list
    }

    private mutating func group(
        _ members: Members, _ known: OptionList?, into draft: inout Draft
    ) {
        checkKeys(members, ["section", "options"], owner: "an option group")
        let title = string(members, "section")
        let first = draft.options.count
        guard let json = members["options"] else {
            issue(members.place, "options are missing", expected: "options: a list of tags")
            draft.isBroken = true
            return
        }
        let list = elements(json, at: members.place(of: "options"))
        if case .array(let written) = json, written.isEmpty {
            issue(
                members.place(of: "options"), "the list of options is empty",
                expected: "at least one option")
        }
        if list.isEmpty || title == nil { draft.isBroken = true }
        for (element, place) in list {
            if element["section"] != nil {
                issue(place, "an option group is inside another one", expected: "an option")
                draft.isBroken = true
            } else if case .object(let object) = element {
                option(Members(object: object, place: place), into: &draft)
            } else {
                option(element, at: place, known, into: &draft)
            }
        }
        draft.groups.append(OptionGroup(title: title, range: first..<draft.options.count))
    }

    private mutating func option(_ members: Members, into draft: inout Draft) {
        checkKeys(members, Self.optionKeys, owner: "an option")
        guard let tag = members["tag"] else {
            issue(
                members.place, "tag is missing",
                expected: "tag: a string, an integer or a boolean")
            draft.isBroken = true
            return
        }
        var option = PickerOption(tag: tag, label: string(members, "label"))
        // Nearly every option has a tag and perhaps a label, and there may be very many.
        if members.object.count > (members["label"] == nil ? 1 : 2) {
            option.subtitle = string(members, "subtitle")
            option.symbol = symbol(members)
            option.symbolName = string(members, "symbolName")
            option.tint = tint(members)
            option.isDisabled = bool(members, "disabled") ?? false
        }
        guard check(tag: tag, at: members.place(of: "tag"), in: &draft) else {
            draft.isBroken = true
            return
        }
        draft.options.append(option)
    }

    /// An option that is only its tag.
    private mutating func option(
        _ tag: JSON, at place: @autoclosure () -> Place, _ known: OptionList?,
        into draft: inout Draft
    ) {
        let labelled = known.flatMap { list in list.index(of: tag).map { list.options[$0] } }
        guard check(tag: labelled?.tag ?? tag, at: place(), in: &draft) else {
            draft.isBroken = true
            return
        }
        draft.options.append(labelled ?? PickerOption(tag: tag))
    }

    private mutating func check(
        tag: JSON, at place: @autoclosure () -> Place, in draft: inout Draft
    ) -> Bool {
        guard let type = TagType(of: tag) else {
            issue(
                place(), "\(FormDefinition.quoted(tag)) is not a tag",
                expected: "a string, an integer or a boolean")
            return false
        }
        if let first = draft.tagType, first != type {
            issue(
                place(), "\(FormDefinition.quoted(tag)) is \(type.inWords) among other tags",
                expected: "\(first.inWords), as the first one")
            return false
        }
        draft.tagType = type
        let index = draft.options.count
        let known =
            switch tag {
            case .string(let text): draft.strings.updateValue(index, forKey: text)
            case .bool(let flag): draft.integers.updateValue(index, forKey: flag ? 1 : 0)
            default: tag.integerValue.flatMap { draft.integers.updateValue(index, forKey: $0) }
            }
        let isNew = known == nil
        if !isNew {
            issue(
                place(), "there is an option \(FormDefinition.quoted(tag)) already",
                expected: "a tag of its own")
        }
        return isNew
    }
}

extension FormParser.Draft {
    /// Adds the newest option to a group without a title.
    fileprivate mutating func extendUntitledGroup() {
        let end = options.count
        if let last = groups.indices.last, groups[last].title == nil {
            groups[last].range = groups[last].range.lowerBound..<end
        } else if end > (groups.last?.range.upperBound ?? 0) {
            groups.append(OptionGroup(title: nil, range: end - 1..<end))
        }
    }
}
