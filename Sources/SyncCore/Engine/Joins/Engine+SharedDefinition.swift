// The definition of a shared form: a function of registers, so that all hosts have the same.

extension Engine {
    // MARK: - Applied here

    /// Writes a definition or options that are applied here to the registers of a shared form.
    ///
    /// What the form has and the new definition lacks is removed, the attic included. So a write
    /// that somebody makes elsewhere at the same time is not removed, and waits in the attic. Each
    /// store that is written gets a dot of its own: see `FormState.takeDot`.
    func share(
        _ shared: SharedState, _ state: FormState, over old: FormState, _ change: Redefinition,
        _ plan: FormMigration, by author: Author, _ stamp: HybridTimestamp
    ) throws(WireError) {
        let dot = try state.takeDot(of: author.replica)
        if let options = change.options {
            guard let index = old.definition.index(of: options.field) else { return }
            var hidden = shared.hidden
            hidden.write(
                options.value, SharedDefinition.optionsKey(shared.storeIDs[index]), dot: dot,
                stamp: stamp, by: author)
            state.shared = shared.with(hidden: hidden)
            return
        }
        let ids = shared.storeIDs(for: change.definition, plan)
        var hidden: [CausalForm.Field] = []
        hidden[SharedDefinition.key] = shared.hidden[SharedDefinition.key]
        hidden.write(
            SharedDefinition(
                lives: shared.lives, file: change.applied,
                controls: change.definition.controls, storeIDs: ids,
                owner: old.sharedOwner ?? SharedOwner(author, of: change.form)
            ).json, SharedDefinition.key, dot: dot, stamp: stamp, by: author)
        let before = FormDefinition.writtenOptions(of: old.applied)
        let written = FormDefinition.writtenOptions(of: change.applied)
        for (index, origin) in plan.origins.enumerated() {
            guard let source = origin.source else { continue }
            let key = SharedDefinition.optionsKey(ids[index])
            let was = old.definition.controls[source].id
            if before[was] == written[change.definition.controls[index].id] {
                hidden[key] = shared.hidden[key]
            }
        }
        let next = SharedState(
            lives: shared.lives, hidden: hidden, storeIDs: ids, of: state.definition.controls)
        state.shared = next
        // A secret is reset, because a join would bring a removed one back.
        let kept = next.controls
        let gone = old.stores.filter { kept[$0.key] == nil }.sorted { $0.key < $1.key }
        for (key, store) in gone {
            guard case .sealed(var register) = store else { continue }
            if register.isSet {
                register.write(nil, dot: try state.takeDot(of: author.replica), stamp: stamp)
            }
            hidden[key] = .sealed(register)
        }
        takeFromAttic(shared.hidden, into: state)
        state.shared = next.with(hidden: hidden)
    }

    /// Gives controls without a store what waited for them.
    private func takeFromAttic(_ attic: [CausalForm.Field], into state: FormState) {
        for index in state.cells.indices {
            guard let key = state.storeKey(index), !attic[key].isEmpty,
                state.cells[index].store?.isEmpty ?? true
            else { continue }
            state.cells[index] = Cell(
                CellContent(index, of: state.definition, store: attic[key]))
        }
    }

    /// The definition in force after a file is applied to a shared form, or options of a control
    /// are set: as other hosts will make it of the registers.
    func definition(
        of file: FormDefinition, over state: FormState, _ shared: SharedState,
        options: (control: Int, value: JSON)? = nil, limits: FormLimits
    ) -> FormDefinition {
        var kept: [String: JSON] = [:]
        let before = FormDefinition.writtenOptions(of: state.applied)
        let written = FormDefinition.writtenOptions(of: file.json)
        for index in file.controls.indices {
            let id = file.controls[index].id
            let old = state.definition.index(of: id)
            guard
                let source = old
                    ?? file.controls[index].was.flatMap(state.definition.index(of:)),
                before[state.definition.controls[source].id] == written[id]
            else { continue }
            kept[id] = shared.hidden.current(
                SharedDefinition.optionsKey(shared.storeIDs[source]))
        }
        if let options { kept[state.definition.controls[options.control].id] = options.value }
        return FormDefinition.merging(
            kept, into: file, reusing: state.definition, limits: limits,
            compile: workspace.compile)
    }

    // MARK: - From other hosts

    /// The definition that joined registers say, if it is another one than the form has.
    ///
    /// - Parameter evenIfSame: whether to return the one that the form has, too.
    /// - Throws: why it cannot be used.
    func definition(
        saidBy hidden: [CausalForm.Field], over state: FormState, evenIfSame: Bool = false
    ) throws(JoinProblem) -> (SharedDefinition, FormDefinition)? {
        guard let said = SharedDefinition(in: hidden) else { throw .unreadable(nil) }
        let known = state.shared.flatMap { SharedDefinition(in: $0.hidden) }
        if let known, !evenIfSame, known.file == said.file, known.storeIDs == said.storeIDs {
            let before = known.options(in: state.shared?.hidden ?? [], of: state.definition)
            if before == said.options(in: hidden, of: state.definition) { return nil }
        }
        let file: FormDefinition
        do {
            file = try FormDefinition.parse(
                said.file, limits: .accepted, reusing: state.definition, compile: workspace.compile)
        } catch { throw .unreadable(error) }
        let definition = FormDefinition.merging(
            said.options(in: hidden, of: file), into: file, reusing: state.definition,
            limits: .accepted, compile: workspace.compile)
        return (said, definition)
    }

    /// Says that definitions of two hosts met.
    func reportMet(since before: [CausalForm.Field], _ form: LiveForm) {
        let known = SharedDefinition.others(in: before)
        for other in form.working.otherDefinitions where !known.contains(other) {
            log(
                .warning,
                "form \(form.name): two definitions met; that of \(other.by.name(on: nil)), "
                    + "\(other.at), is not in force; the next one that is applied replaces both",
                [.form(form.name)])
        }
    }

    /// A state with another host's definition, and all stores of the form.
    func state(
        _ said: SharedDefinition, _ definition: FormDefinition, _ joined: JoinedStores,
        over old: FormState, _ lives: FormLives
    ) -> FormState {
        let state = FormState(definition, applied: said.file)
        state.version = old.version + 1
        state.context = joined.context
        state.ongoing = old.ongoing
        let ids = said.storeIDs(of: definition)
        let shared = SharedState(
            lives: lives, hidden: [], storeIDs: ids, of: definition.controls)
        state.shared = shared
        let places = old.controlsByStore
        var hidden = joined.hidden
        for index in state.cells.indices {
            guard let key = state.storeKey(index) else { continue }
            let place = places[key]
            let store = place.map { joined.cells[$0] ?? old.cells[$0].store } ?? hidden[key]
            hidden[key] = FieldStore(key.kind)
            guard let store else { continue }
            guard let place else {
                if store.isEmpty { continue }
                state.cells[index] = Cell(CellContent(index, of: definition, store: store))
                continue
            }
            let cell = old.cells[place]
            state.cells[index] = Cell(
                cell.content.joined(store, index, of: definition), revision: cell.revision,
                at: cell.at, by: cell.by,
                runs: definition.controls[index].runs == nil ? nil : cell.runs)
        }
        // What no control shows any more waits in the attic.
        for (key, place) in places where shared.controls[key] == nil {
            hidden[key] = joined.cells[place] ?? old.cells[place].store ?? FieldStore(key.kind)
        }
        state.shared = shared.with(hidden: hidden)
        return state
    }
}

extension FormMigration.Origin {
    /// The old control; `nil` for a new one.
    fileprivate var source: Int? {
        switch self {
        case .new: nil
        case .carries(let source), .restarts(let source): source
        }
    }
}

extension SharedState {
    /// The store ids under another definition.
    fileprivate func storeIDs(for definition: FormDefinition, _ plan: FormMigration) -> [String] {
        let kept = plan.origins.map { origin in origin.source.map { storeIDs[$0] } }
        var taken = Set(kept.compactMap(\.self))
        return zip(definition.controls, kept).map { control, kept in
            if let kept { return kept }
            var free = control.id
            var number = 2
            while !taken.insert(free).inserted {
                free = "\(control.id)~\(number)"
                number += 1
            }
            return free
        }
    }
}
