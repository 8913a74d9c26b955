// How a declaration becomes an open form: apply the definition, follow the form, check that every
// property can show its value, and then open it.

internal import PickerClient
internal import SyncCore
internal import Synchronization

/// What opening a form does with its definition.
public enum Applying: Hashable, Sendable {
    /// The declaration replaces the definition of an existing form. Values that fit are kept.
    case always
    /// The declaration is used only if the daemon has no form of that name.
    case ifMissing
}

extension FormMachine {
    /// Opens a form: declares it on the daemon and follows it.
    ///
    /// - Parameters:
    ///   - form: the declaration, whose properties are bound.
    ///   - applying: whether it replaces the definition of an existing form.
    ///   - presence: whether to receive who has the form open and what they edit; a declaration
    ///     with `onEditingChanged` receives it in any case.
    ///   - done: called once, when the properties show the form, or with an error.
    public func open(
        _ form: some SharedForm, applying: Applying = .always, presence: Bool = false,
        then done: @escaping @Sendable (Result<FormSession, FormError>) -> Void
    ) {
        open(form, applying: applying, presence: presence, call: nil) { result in
            done(result.map { FormSession($0) })
        }
    }

    /// Follows an existing form. It may have been declared by any program.
    ///
    /// - Parameters:
    ///   - values: the properties to be bound.
    ///   - presence: whether to receive the list of users who have the form open.
    ///   - done: called once, when the properties show the form, or with an error.
    public func follow(
        _ values: some SharedState, presence: Bool = false,
        then done: @escaping @Sendable (Result<FormSession, FormError>) -> Void
    ) {
        follow(values, presence: presence, call: nil) { result in
            done(result.map { FormSession($0) })
        }
    }

    func open(
        _ form: some SharedForm, applying: Applying, presence: Bool, call: UInt64?,
        then done: @escaping @Sendable (Result<FormAttachment, FormError>) -> Void
    ) {
        let declaration: FormDeclaration
        do throws(FormIssues) {
            declaration = try FormDeclaration(form)
        } catch {
            return done(.failure(.declaration(error)))
        }
        for note in declaration.notes { log?(.info, note, ["form": declaration.name]) }
        let apply = FormApply(
            definition: declaration.json, ifVersion: applying == .ifMissing ? 0 : nil)
        let wantsPresence =
            presence
            || declaration.listeners.contains {
                if case .editing = $0.kind { true } else { false }
            }
        ask(.formApply(apply), call: call) { [self] result in
            switch result.failure {
            case nil: break
            // Somebody else has declared it before: follow that form.
            case .refused(let error)? where applying == .ifMissing && error.kind == .conflict: break
            case .some(let error): return done(.failure(error))
            }
            follow(
                declaration.name, declaration.properties, presence: wantsPresence,
                declaration: declaration, call: call, then: done)
        }
    }

    func follow<State: SharedState>(
        _ values: State, presence: Bool, call: UInt64?,
        then done: @escaping @Sendable (Result<FormAttachment, FormError>) -> Void
    ) {
        follow(
            State.formName, values.sharedProperties, presence: presence, declaration: nil,
            call: call, then: done)
    }

    private func follow(
        _ name: String, _ properties: [any FieldIdentity], presence: Bool,
        declaration: FormDeclaration?, call: UInt64?,
        then done: @escaping @Sendable (Result<FormAttachment, FormError>) -> Void
    ) {
        if let end = state.withLock({ $0.end }) { return done(.failure(end)) }
        if let call { state.withLock { _ = $0.calls.wait(for: .opening, call) } }
        let attachment = attach(name, presence: presence, declare: declaration?.redeclare)
        attachment.join(declaration) { error in
            if let error { return done(.failure(error)) }
            if let error = attachment.bind(properties) {
                attachment.close()
                return done(.failure(error))
            }
            done(.success(attachment))
        }
    }
}

extension FormMachine {
    /// A new attachment to a form. The first one subscribes to it.
    func attach(
        _ form: String, presence: Bool, declare: (@Sendable () throws(FormIssues) -> JSON)?
    ) -> FormAttachment {
        let attachment = state.withLock { state in
            state.lastAttachment += 1
            let number = state.lastAttachment
            let known = state.feeds.first { $0.name == form }
            let feed = known ?? FormFeed(name: form, machine: self)
            let since = feed.state.withLock { feed -> StateSubscribe.Since?? in
                feed.attachments.insert(number)
                // Only a subscription that asks for presence gets it, so subscribe again.
                guard known == nil || presence && !feed.hasPresence || feed.isAway else {
                    return .none
                }
                feed.hasPresence = feed.hasPresence || presence
                return .some(feed.replica.position)
            }
            if known == nil { state.feeds.append(feed) }
            if let since {
                state.outbox.append(
                    .subscribe(StateSubscribe(form: form, since: since, presence: presence)))
            }
            return FormAttachment(feed, number: number, declare: declare)
        }
        wake()
        return attachment
    }

    /// An attachment ended; the last one unsubscribes from the form.
    func detach(_ feed: FormFeed) {
        let wasLast = state.withLock { state in
            guard state.feeds.contains(where: { $0 === feed }),
                feed.state.withLock({ $0.attachments.isEmpty })
            else { return false }
            state.feeds.removeAll { $0 === feed }
            state.outbox.append(.unsubscribe(feed.name))
            return true
        }
        guard wasLast else { return }
        feed.ended(nil)
        wake()
    }
}

extension FormAttachment {
    /// Adds the listeners of a declaration, and calls `done` when the form is open.
    fileprivate func join(
        _ declaration: FormDeclaration?, then done: @escaping @Sendable (FormError?) -> Void
    ) {
        for attach in declaration?.attachments ?? [] { attach(self) }
        let listeners = (declaration?.listeners ?? []).map { listener in
            var listener = listener
            listener.owner = number
            return listener
        }
        let (isOpen, end) = feed.state.withLock { state in
            guard state.end == nil else { return (false, state.end) }
            state.listeners += listeners
            if !state.isOpen { state.opening.append(done) }
            return (state.isOpen, nil)
        }
        if let end { return done(end) }
        guard isOpen else { return }
        done(nil)
        feed.tellInitial(listeners)
        feed.handlePresses()
    }

    /// Binds properties to this form, unless one of them cannot show its value.
    fileprivate func bind(_ properties: [any FieldIdentity]) -> FormError? {
        let fields = feed.state.withLock { $0.replica }
        for property in properties {
            guard let id = property.id else { continue }
            guard let field = fields[id] else {
                return .mismatch(form: name, field: id, shown: nil)
            }
            guard property.canShow(field) else {
                return .mismatch(form: name, field: id, shown: field.value)
            }
        }
        for property in properties {
            property.attach(self, showing: property.id.flatMap { fields[$0] })
        }
        return nil
    }
}
