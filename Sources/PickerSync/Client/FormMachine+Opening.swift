// How a declaration becomes an open form: apply the definition, follow the form, look whether every
// property can show what is there, and only then hand over.

internal import PickerClient
internal import SyncCore
internal import Synchronization

/// What opening a form does with its definition.
public enum Applying: Hashable, Sendable {
    /// The daemon takes the declaration; values of an earlier one are kept where they fit.
    case always
    /// The daemon takes it only where it has no form of that name: whoever comes first declares it
    /// for all.
    case ifMissing
}

extension FormMachine {
    /// Opens a form: declares it on the daemon and follows it.
    ///
    /// - Parameters:
    ///   - form: the declaration, whose properties are bound.
    ///   - applying: whether the daemon takes it where it has such a form.
    ///   - presence: whether to be told who has the form open and what they have in their hands;
    ///     a declaration with `onEditingChanged` is told in any case.
    ///   - done: told once, when the properties show the form or with the reason why not.
    public func open(
        _ form: some SharedForm, applying: Applying = .always, presence: Bool = false,
        then done: @escaping @Sendable (Result<FormSession, FormError>) -> Void
    ) {
        open(form, applying: applying, presence: presence, call: nil) { result in
            done(result.map { FormSession($0) })
        }
    }

    /// Follows a form that is there, whoever declared it.
    ///
    /// - Parameters:
    ///   - values: the properties to be bound.
    ///   - presence: whether to be told who has the form open.
    ///   - done: told once, when the properties show the form or with the reason why not.
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
            // Somebody declared it before us: it is theirs, and we follow.
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
    /// A new attachment to a form, which is followed from now on if it was not.
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
                // Presence is told to a subscription that asks for it: ours has to ask again.
                guard known == nil || presence && !feed.hasPresence || feed.isAway else {
                    return .none
                }
                feed.hasPresence = feed.hasPresence || presence
                guard known != nil, let log = feed.log else { return .some(nil) }
                return StateSubscribe.Since(log: log, revision: feed.revision)
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

    /// An attachment ended; with the last one the form is followed no longer.
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
    /// Takes the listeners of a declaration, and tells when the form is open.
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
    }

    /// Binds properties to this form, unless one of them cannot show what is there.
    fileprivate func bind(_ properties: [any FieldIdentity]) -> FormError? {
        let fields = feed.state.withLock { $0.fields }
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
