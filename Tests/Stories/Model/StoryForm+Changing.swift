// Changes of a form: by a transaction, or by another definition.

import SyncCore

extension StoryForm {
    /// What another definition does to the fields (docs/FORM.md).
    struct Migration {
        enum Origin: Equatable {
            case new
            case carries(String)
            case restarts(String)
        }

        var added: [String] = []
        var kept: [String] = []
        var invalid: [String] = []
        var reset: [String] = []
        var removed: [String] = []
        var origins: [String: Origin] = [:]
    }

    func migration(to new: StoryDefinition) -> Migration {
        var plan = Migration()
        var taken: Set<String> = []
        for control in new.controls {
            var source = definition.control(control.id)
            if source == nil, let was = control.was, !taken.contains(was) {
                source = definition.control(was)
            }
            guard let source else {
                plan.added.append(control.id)
                plan.origins[control.id] = .new
                continue
            }
            taken.insert(source.id)
            let (value, isSet) = stored(source.id)
            let isLost = source.store != nil && isSet
            guard let store = control.store, store == source.store else {
                if isLost { plan.reset.append(control.id) } else { plan.kept.append(control.id) }
                plan.origins[control.id] = .restarts(source.id)
                continue
            }
            plan.origins[control.id] = .carries(source.id)
            if !isSet || store == .presses || store == .secret || control.accepts(value) {
                plan.kept.append(control.id)
            } else if store != .register || source.typeName == control.typeName
                || control.hasShape(of: value)
            {
                plan.invalid.append(control.id)
            } else {
                plan.reset.append(control.id)
                plan.origins[control.id] = .restarts(source.id)
            }
        }
        plan.removed = definition.controls.map(\.id).filter { !taken.contains($0) }
        return plan
    }

    /// An applied definition with the run-time options of pickers whose options in the file are
    /// unchanged.
    func keepingOptions(_ file: StoryDefinition) -> StoryDefinition {
        var kept: [String: StoryControl] = [:]
        for control in file.controls where control.kind == .picker || control.kind == .multiple {
            let places = [control.id, control.was ?? control.id]
            let known = places.lazy.compactMap(applied.control).first(where: \.hasOptions)
            guard let known, let now = definition.control(known.id),
                now.hasOptions, known.optionsJSON != now.optionsJSON,
                known.optionsJSON == control.optionsJSON
            else { continue }
            kept[control.id] = now
        }
        if kept.isEmpty { return file }
        for dropsDefaults in [false, true] {
            var merged = file
            for place in merged.controls.indices {
                guard let now = kept[merged.controls[place].id] else { continue }
                merged.controls[place].takeOptions(of: now)
                if dropsDefaults { merged.controls[place].initial = nil }
            }
            if merged.isValid { return merged }
        }
        return file
    }

    /// The definition with other options for one picker; `nil` if it is not valid.
    func settingOptions(
        of id: String, to options: [JSON]
    ) -> StoryDefinition? {
        for initial in [applied.control(id)?.initial, nil] {
            var changed = definition
            guard let place = changed.controls.firstIndex(where: { $0.id == id }) else {
                return nil
            }
            changed.controls[place].takeOptions(options)
            changed.controls[place].initial = initial
            if changed.isValid { return changed }
        }
        return nil
    }

    // MARK: - Revisions

    /// Replaces the definition.
    mutating func redefine(
        _ new: StoryDefinition, applied: StoryDefinition, kind: String, by author: StoryAuthor,
        message: JSON?, approval: [(String, JSON)] = []
    ) {
        let before = self
        let isCreation = revision == 0
        let plan = migration(to: new)
        var carried: [String: StoryContent] = [:]
        var carriedLeases: [String: StoryLeases] = [:]
        var touched: [String: (revision: Int, by: StoryAuthor)] = [:]
        for control in new.controls {
            carried[control.id] = StoryContent(control.store)
            switch plan.origins[control.id] ?? .new {
            case .carries(let source):
                carried[control.id] = contents[source]
                carriedLeases[control.id] = leases[source]
                touched[control.id] = touches[source]
            case .restarts(let source): touched[control.id] = touches[source]
            case .new: break
            }
        }
        if !isCreation {
            contents = carried
            leases = carriedLeases
        }
        var kept: [String: StoryRuns] = [:]
        var names: [String: String] = [:]
        for control in new.controls where control.runs != nil {
            if case .carries(let source) = plan.origins[control.id] {
                kept[control.id] = runs[source]
                if runs[source] != nil { names[source] = control.id }
            }
        }
        // The outcomes of a button follow it to its new name. Without the button they are past.
        for place in ended.indices where !ended[place].run.isPast {
            let name = names[ended[place].field]
            ended[place].run.isPast = name == nil
            ended[place].field = name ?? ended[place].field
        }
        runs = kept
        self.applied = applied
        definition = new
        version += 1
        revision += 1
        touches = isCreation ? [:] : touched
        var changes: [JSON] = []
        var entries: [JSON] = []
        for control in new.controls {
            let old = before.definition.control(control.id)
            let was = isCreation || old == nil ? nil : before.reading(control.id)
            if let was, was.readsAs(reading(control.id)) { continue }
            touches[control.id] = (revision, author)
        }
        for control in new.controls where touches[control.id]?.revision == revision {
            let isKnown = !isCreation && before.definition.control(control.id) != nil
            let was = isKnown ? before.reading(control.id).value : nil
            let reading = reading(control.id)
            changes.append(change(control.id, reading, was: was))
            entries.append(historic(control.id, reading.value, was: was))
        }
        let notice = StoryWire.notification(
            "form.changed",
            [
                ("form", .string(name)), ("version", .integer(version)),
                ("revision", .integer(revision)), ("definition", new.json),
                ("changes", .array(changes)),
            ], message)
        revisions.append(
            Revision(
                number: revision, notice: notice, touched: nil,
                entry: entry(kind, author, entries, message, approval), writes: writes))
    }

    private func change(_ id: String, _ reading: Reading, was: JSON?) -> JSON {
        var object = JSONObject([("field", .string(id))])
        for member in reading.json.members { object[member.name] = member.value }
        if definition.control(id)?.kind != .secure { object["was"] = was }
        return .object(object)
    }

    private func entry(
        _ kind: String, _ author: StoryAuthor, _ changes: [JSON], _ message: JSON?,
        _ approval: [(String, JSON)] = []
    ) -> JSON {
        var object = JSONObject([
            ("revision", .integer(revision)), ("by", author.json), ("kind", .string(kind)),
            ("changes", .array(changes)),
        ])
        object["message"] = message
        for (name, value) in approval { object[name] = value }
        return .object(object)
    }

    /// The notification for watchers of the list of forms.
    func listing(_ message: JSON?) -> JSON {
        StoryWire.notification(
            "form.changed",
            [
                ("form", .string(name)), ("version", .integer(version)),
                ("revision", .integer(revision)), ("definition", definition.json),
                ("changes", []),
            ], message)
    }

    /// The notification that the form was deleted.
    func deletion(at revision: Int, _ message: JSON? = nil) -> JSON {
        StoryWire.notification(
            "form.changed",
            [("form", .string(name)), ("revision", .integer(revision)), ("deleted", true)],
            message)
    }

    /// Applies a transaction. Returns the fields of the answer.
    mutating func take(
        _ transaction: StoryTransaction, kind: StoryJournal.Kind, session: String?,
        message: JSON?, approval: [(String, JSON)] = []
    ) -> JSON {
        let told: [String]
        var notified: [String: Reading] = [:]
        if transaction.written.isEmpty, transaction.leased.isEmpty {
            contents = transaction.form.contents
            repeats = transaction.form.repeats
            writes = transaction.form.writes
            told = definition.controls.map(\.id).filter(transaction.named.contains)
        } else {
            let before = self
            self = transaction.form
            revision += 1
            let changed = transaction.written.union(transaction.leased)
            let order = definition.withDependents(changed)
            let met = definition.withDependents(transaction.met)
            for id in order { touches[id] = (revision, transaction.author) }
            add(transaction.presses, by: transaction.author, message)
            var changes: [JSON] = []
            var entries: [JSON] = []
            var conflicts: [String: [JSON]] = [:]
            for id in order {
                conflicts[id] = self.reading(id).conflict
                let isMet = !transaction.met.isEmpty && met.contains(id)
                let reading = reading(id, notifying: isMet)
                notified[id] = reading
                let was = before.shown(id).value
                changes.append(change(id, reading, was: was))
                if changed.contains(id) {
                    var entry =
                        historic(id, reading.value, was: was, isConcurrent: isMet)
                        .objectValue ?? JSONObject()
                    if isMet, let control = definition.control(id) {
                        entry["lost"] = contents[id]?.lost(after: before.writes, control)
                    }
                    entries.append(.object(entry))
                }
            }
            let notice = StoryWire.notification(
                "state.changed",
                [
                    ("form", .string(name)), ("revision", .integer(revision)),
                    ("changes", .array(changes)),
                ], message)
            revisions.append(
                Revision(
                    number: revision, notice: notice, touched: Set(order),
                    entry: entry(
                        kind.rawValue, transaction.author, entries, message, approval),
                    writes: writes, conflicts: conflicts))
            let owner = StoryOwner(uid: transaction.author.uid, session: session)
            journal.append(
                kind, revision: revision, owner: owner,
                steps: transaction.steps.filter { !$0.isIdle })
            told = definition.controls.map(\.id).filter {
                transaction.named.contains($0) || order.contains($0)
            }
        }
        return .object(
            JSONObject(told.map { ($0, .object((notified[$0] ?? reading($0)).json)) }))
    }

    /// Adds a revision that changed no value of these fields; the first derive from the others.
    mutating func noteRevision(
        _ order: [String], _ run: StoryRun, _ author: StoryAuthor
    ) {
        let changes = order.map { change($0, reading($0), was: shown($0).value) }
        let roots = order.filter { definition.targets($0) == [$0] }
        let entries = roots.map {
            historic($0, shown($0).value, was: shown($0).value, run: run)
        }
        let notice = StoryWire.notification(
            "state.changed",
            [
                ("form", .string(name)), ("revision", .integer(revision)),
                ("changes", .array(changes)),
            ], nil)
        revisions.append(
            Revision(
                number: revision, notice: notice, touched: Set(order),
                entry: entry("run", author, entries, nil), writes: writes))
    }

    private func historic(
        _ id: String, _ value: JSON, was: JSON?, isConcurrent: Bool = false, run: StoryRun? = nil
    ) -> JSON {
        var object = JSONObject([("field", .string(id)), ("value", value)])
        let isSecret = definition.control(id)?.kind == .secure
        if isSecret {
            object["secret"] = .object(JSONObject([("set", .bool(reading(id).secret ?? false))]))
        } else {
            object["was"] = was
        }
        if isConcurrent { object["concurrent"] = true }
        object["run"] = run.map { .object($0.json) }
        return .object(object)
    }
}

extension StoryControl {
    var hasOptions: Bool { kind == .picker || kind == .multiple }

    /// Whether a value that is not valid is kept all the same.
    func hasShape(of value: JSON) -> Bool {
        (kind == .text || kind == .picker) && value.stringValue != nil
    }
}
