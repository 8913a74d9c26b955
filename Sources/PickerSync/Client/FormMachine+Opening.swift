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
        let declaration: FormDeclaration
        do throws(FormIssues) {
            declaration = try FormDeclaration(form)
        } catch {
            return done(.failure(.declaration(error)))
        }
        let apply = FormApply(
            definition: declaration.json, ifVersion: applying == .ifMissing ? 0 : nil)
        let wantsPresence =
            presence
            || declaration.listeners.contains {
                if case .editing = $0.kind { true } else { false }
            }
        ask(.formApply(apply)) { [self] outcome in
            switch failure(of: outcome) {
            case nil: break
            // Somebody declared it before us: it is theirs, and we follow.
            case .refused(let error)? where applying == .ifMissing && error.kind == .conflict: break
            case .some(let error): return done(.failure(error))
            }
            follow(
                declaration.name, declaration.properties, presence: wantsPresence,
                declaration: declaration, then: done)
        }
    }

    /// Follows a form that is there, whoever declared it.
    ///
    /// - Parameters:
    ///   - values: the properties to be bound.
    ///   - presence: whether to be told who has the form open.
    ///   - done: told once, when the properties show the form or with the reason why not.
    public func follow<State: SharedState>(
        _ values: State, presence: Bool = false,
        then done: @escaping @Sendable (Result<FormSession, FormError>) -> Void
    ) {
        follow(
            State.formName, values.sharedProperties, presence: presence, declaration: nil,
            then: done)
    }

    private func follow(
        _ name: String, _ properties: [any FieldIdentity], presence: Bool,
        declaration: FormDeclaration?,
        then done: @escaping @Sendable (Result<FormSession, FormError>) -> Void
    ) {
        let known = existing(name)
        let session = known ?? FormSession(name: name, machine: self)
        session.join(declaration) { [weak session] result in
            guard let session else { return done(.failure(.closed)) }
            switch result {
            case .failure(let error): done(.failure(error))
            case .success:
                if let error = session.attach(properties) {
                    session.close()
                    return done(.failure(error))
                }
                done(.success(session))
            }
        }
        if known == nil { follow(session, presence: presence) }
    }
}

extension FormSession {
    /// Takes the listeners of a declaration, and tells when the form is open.
    fileprivate func join(
        _ declaration: FormDeclaration?,
        then done: @escaping @Sendable (Result<FormSession, FormError>) -> Void
    ) {
        for attach in declaration?.attachments ?? [] { attach(self) }
        let isOpen = state.withLock { state in
            state.listeners += declaration?.listeners ?? []
            state.redeclare = declaration?.redeclare ?? state.redeclare
            if !state.isOpen { state.opening.append(done) }
            return state.isOpen
        }
        if isOpen { done(.success(self)) }
    }

    /// Binds properties to this form, unless one of them cannot show what is there.
    fileprivate func attach(_ properties: [any FieldIdentity]) -> FormError? {
        let fields = state.withLock { $0.fields }
        for property in properties {
            guard let id = property.id else { continue }
            guard let field = fields[id] else {
                return .mismatch(form: name, field: id, shown: nil)
            }
            guard property.canShow(field) else {
                return .mismatch(form: name, field: id, shown: field.value)
            }
        }
        for property in properties { property.attach(self) }
        return nil
    }

    /// Declares the form anew, with what its data sources say now.
    func redeclare() async throws(FormError) {
        machine.checkThatAnotherThreadDrives()
        guard let declare = state.withLock({ $0.redeclare }) else { throw .notOpen }
        let json: JSON
        do throws(FormIssues) {
            json = try declare()
        } catch {
            throw .declaration(error)
        }
        try await withAnswer { done in
            machine.ask(.formApply(FormApply(definition: json))) { [machine] outcome in
                done(machine.failure(of: outcome))
            }
        }
    }
}
