// The options of a picker. Their tags are typed: a tag of another type than the selection's does
// not compile, and neither does an option without one.

internal import SyncCore

/// A view with a tag: an option of a picker.
public struct TaggedView<Tag: Hashable>: TaggedContent, PrimitiveView {
    let tag: Tag
    let content: any View
    var isDisabled = false
    var color: Color?

    /// The options that this is: itself.
    public var options: [TaggedView<Tag>] { [self] }

    /// An option that nobody may pick.
    public func disabled(_ isDisabled: Bool = true) -> Self {
        var copy = self
        copy.isDisabled = copy.isDisabled || isDisabled
        return copy
    }

    /// An option in a colour.
    public func tint(_ color: Color?) -> Self {
        var copy = self
        copy.color = color
        return copy
    }

    func label(into label: inout LabelParts) {
        label.add(content)
    }
}

/// Content whose options all have tags of one type.
public protocol TaggedContent: View {
    /// The type of the tags.
    associatedtype Tag: Hashable
    /// The options, in order.
    var options: [TaggedView<Tag>] { get }
}

extension ConditionalView: TaggedContent
where First: TaggedContent, Second: TaggedContent, First.Tag == Second.Tag {
    /// The type of both sides' tags.
    public typealias Tag = First.Tag

    /// The options of the side that was chosen.
    public var options: [TaggedView<First.Tag>] {
        switch self {
        case .first(let content): content.options
        case .second(let content): content.options
        }
    }
}

extension View {
    /// An option of a picker with that tag.
    ///
    /// - Parameter tag: a value of the selection's type; of the wrapped type where that is
    ///   optional.
    public func tag<Tag: Hashable>(_ tag: Tag) -> TaggedView<Tag> {
        TaggedView(tag: tag, content: self)
    }
}

/// The options of one picker, with their groups.
public struct PickerOptions<Tag: PickerTag> {
    /// An option, or a titled group of them.
    enum Entry {
        case option(TaggedView<Tag>)
        case group(title: LabelParts?, [TaggedView<Tag>])
    }

    var entries: [Entry]

    init(_ entries: [Entry]) {
        self.entries = entries
    }
}

/// Builds the options of a picker whose tags are `Tag`s.
@resultBuilder
public enum PickerContentBuilder<Tag: PickerTag> {
    /// An option.
    public static func buildExpression(_ option: TaggedView<Tag>) -> PickerOptions<Tag> {
        PickerOptions([.option(option)])
    }

    /// An option for an optional selection; one for `nil` is what every optional picker has anyway.
    public static func buildExpression(_ option: TaggedView<Tag?>) -> PickerOptions<Tag> {
        guard let tag = option.tag else { return PickerOptions([]) }
        return PickerOptions([
            .option(
                TaggedView(
                    tag: tag, content: option.content, isDisabled: option.isDisabled,
                    color: option.color))
        ])
    }

    /// Options tagged with the ids of what they are for.
    public static func buildExpression<Data, Content: View>(
        _ each: ForEach<Data, Tag, Content>
    ) -> PickerOptions<Tag> {
        PickerOptions(
            each.elements.map { .option(TaggedView(tag: $0.id, content: $0.content)) })
    }

    /// Options with their own tags.
    public static func buildExpression<Data, ID, Content: TaggedContent>(
        _ each: ForEach<Data, ID, Content>
    ) -> PickerOptions<Tag> where Content.Tag == Tag {
        PickerOptions(each.elements.flatMap { $0.content.options.map { .option($0) } })
    }

    /// Options with their own tags, even if the ids would do.
    public static func buildExpression<Data, Content: TaggedContent>(
        _ each: ForEach<Data, Tag, Content>
    ) -> PickerOptions<Tag> where Content.Tag == Tag {
        PickerOptions(each.elements.flatMap { $0.content.options.map { .option($0) } })
    }

    /// Options with tags of another type than the selection's, which no picker could ever select,
    /// although the elements' ids would do: this leads to no options, so that it does not compile.
    public static func buildExpression<Data, Content: TaggedContent>(
        _ each: ForEach<Data, Tag, Content>
    ) -> TagsOfAnotherType {
        TagsOfAnotherType()
    }

    /// A titled group.
    public static func buildExpression(_ section: Section<PickerOptions<Tag>>) -> PickerOptions<Tag>
    {
        var options: [TaggedView<Tag>] = []
        for entry in section.content.entries {
            switch entry {
            case .option(let option): options.append(option)
            case .group(_, let inner): options += inner
            }
        }
        return PickerOptions([.group(title: section.header, options)])
    }

    /// Options one after the other.
    public static func buildBlock(_ parts: PickerOptions<Tag>...) -> PickerOptions<Tag> {
        PickerOptions(parts.flatMap(\.entries))
    }

    /// `if` without `else`.
    public static func buildOptional(_ part: PickerOptions<Tag>?) -> PickerOptions<Tag> {
        part ?? PickerOptions([])
    }

    /// `if`.
    public static func buildEither(first part: PickerOptions<Tag>) -> PickerOptions<Tag> { part }

    /// `else`.
    public static func buildEither(second part: PickerOptions<Tag>) -> PickerOptions<Tag> { part }

    /// `for`.
    public static func buildArray(_ parts: [PickerOptions<Tag>]) -> PickerOptions<Tag> {
        PickerOptions(parts.flatMap(\.entries))
    }
}

/// What options are whose tags are not of the selection's type: nothing that a picker takes.
public struct TagsOfAnotherType {
    init() {}
}

extension PickerOptions {
    /// The options as a form file has them.
    func json(_ form: inout FormLowering) -> JSON {
        .array(
            entries.map { entry in
                switch entry {
                case .option(let option): option.json(&form)
                case .group(let title, let options):
                    .object(
                        JSONObject([
                            ("section", title?.template(&form) ?? ""),
                            ("options", .array(options.map { $0.json(&form) })),
                        ]))
                }
            })
    }
}

extension TaggedView where Tag: PickerTag {
    fileprivate func json(_ form: inout FormLowering) -> JSON {
        var label = LabelParts()
        label.add(content)
        label.isDisabled = label.isDisabled || isDisabled
        label.color = color ?? label.color
        var members: [(String, JSON)] = [("tag", tag.fieldValue)]
        members += label.members(&form)
        if let color = label.color { members.append(("tint", .string(color.text))) }
        if label.isDisabled { members.append(("disabled", true)) }
        return .object(JSONObject(members))
    }
}
