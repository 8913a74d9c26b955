// Modifiers for controls of production: why a change is made, how long a value lasts, and who else
// must agree. Each applies to every control inside the view.

internal import SyncCore

extension View {
    /// Refuses changes and presses without a message that says why.
    ///
    /// For all controls of a form: ``Form/requiresMessage()``.
    public func requiresMessage() -> ModifiedView<Self> {
        ModifiedView(content: self, modify: { $0.set("message", "required") })
    }

    /// The longest time that a value lasts. A value that is set without an end gets this one, and
    /// then the value before it comes back.
    ///
    ///     Toggle("Maintenance", isOn: $maintenance).leaseMax(.seconds(4 * 3_600))
    ///
    /// - Parameter longest: from one second to ten years, in whole seconds.
    public func leaseMax(_ longest: Duration) -> ModifiedView<Self> {
        ModifiedView(content: self, modify: { $0.set("leaseMax", longest.formText) })
    }

    /// Controls that change only when others agree. Their approval is asked for with
    /// ``FormSession/propose(_:ends:timeout:_:)`` or `pickerctl propose`.
    ///
    ///     Slider("Traffic", value: $traffic, in: 0...100)
    ///         .approval(from: "group:oncall", when: $environment == .production)
    ///
    /// - Parameters:
    ///   - principals: who may agree: `anyone`, `owner`, `user:mary`, `group:oncall`. The vote of
    ///     the user who proposes never counts.
    ///   - count: how many of them must agree, at most 16.
    ///   - within: how long a proposal waits for them: at most 30 days.
    ///   - condition: asks only for changes after which this holds; `nil` for all.
    public func approval(
        from principals: String..., count: Int = 1, within: Duration = .seconds(1_800),
        when condition: FieldCondition? = nil
    ) -> ModifiedView<Self> {
        var rule = JSONObject([
            ("from", .array(principals.map { .string($0) })), ("count", .integer(count)),
            ("within", within.formText),
        ])
        rule["when"] = condition?.json
        return ModifiedView(content: self, modify: { $0.set("approval", .object(rule)) })
    }

    /// Who may change controls with ``approval(from:count:within:when:)`` without the others, by
    /// ``FormSession/breakGlass(_:ends:timeout:_:)``. By default nobody.
    public func mayBreakGlass(_ principals: String...) -> ModifiedView<Self> {
        let names = JSON.array(principals.map { .string($0) })
        return ModifiedView(content: self, modify: { $0.set("breakGlass", names) })
    }

    /// The principals with a permission for these controls, in place of those of the form.
    ///
    /// - Parameters:
    ///   - action: `write`, `press`, `reveal` or `handle`.
    ///   - principals: `anyone`, `owner`, `user:mary`, `group:ops`.
    public func access(
        to action: FormAccessAction, _ principals: String...
    ) -> ModifiedView<Self> {
        let names = JSON.array(principals.map { .string($0) })
        return ModifiedView(content: self, modify: { $0.setAccess(action.rawValue, names) })
    }
}

extension ViewEnvironment {
    /// Sets the principals of one permission.
    fileprivate mutating func setAccess(_ action: String, _ names: JSON) {
        var access = attributes.first { $0.name == "access" }?.value.objectValue ?? JSONObject()
        access[action] = names
        set("access", .object(access))
    }
}

extension Duration {
    /// The duration as a form file has it: `90min`, `1500ms`.
    var formText: JSON {
        let (seconds, attoseconds) = components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        if milliseconds == 0 { return .string(DurationText.text(seconds: seconds)) }
        return .string("\(seconds * 1_000 + milliseconds)ms")
    }
}
