// Answers and notifications, compared with the form at the revision that they name.

import SyncCore

extension Oracle {
    /// Runs a check when its revision is known, at the latest at the next audit.
    func when(_ revision: Int64, _ check: @escaping () throws -> Void) throws {
        if revision <= self.revision { return try check() }
        guard durability != .commit else {
            throw Violation("revision \(revision) was sent before it was durable")
        }
        pending.append((revision, check))
    }

    func runChecks() throws {
        let due = pending.filter { $0.revision <= revision }
        pending.removeAll { $0.revision <= revision }
        for (_, check) in due { try check() }
    }

    /// Checks that every revision that a client was shown is known by now.
    func audit() throws {
        if let first = pending.first {
            throw Violation("revision \(first.revision) was shown, and no notification of it came")
        }
        guard durability == .commit else { return }
        for edit in edits.values where edit.isAnswered && edit.isRefused {
            throw Violation("edit \(edit.number) was answered with a result and with an error")
        }
    }

    /// An edit was answered with a result.
    func answered(_ edit: SentEdit, _ result: SetResult) throws {
        edit.isAnswered = true
        try when(result.revision) { [self] in
            let form = forms[Int(result.revision)]
            if let write = writeOfRequest[edit.number] {
                guard write.revision == result.revision else {
                    throw Violation(
                        "edit \(edit.number) is revision \(write.revision), and its answer says "
                            + "\(result.revision)")
                }
            } else {
                guard case .stateSet(let set) = edit.request else {
                    throw Violation(
                        "edit \(edit.number) was answered with a result and had no effect")
                }
                let isNoted = affirmations.write(of: edit.number) != nil
                var trial = form
                let outcome = trial.apply(
                    set.changes.map { ($0, .everything) }, write: .max, owner: edit.owner)
                guard outcome.written.isEmpty else {
                    throw Violation(
                        "edit \(edit.number) was acknowledged as revision \(result.revision), "
                            + "and \(outcome.written.sorted()) do not have its values")
                }
                guard isNoted || outcome.affirmed.isEmpty else {
                    throw Violation(
                        "edit \(edit.number) repeats the values of \(outcome.affirmed.sorted()) "
                            + "and has no dot")
                }
            }
            for field in result.fields {
                var reading = form.reading(field.id)
                reading.conflict = []
                var told = field.state
                told.conflict = []
                try compare(told, reading, field.id, form, "the answer to edit \(edit.number)")
            }
        }
    }

    /// An edit was refused. `unavailable` does not say whether it was done.
    func refused(_ edit: SentEdit, _ error: WireError) throws {
        guard error.kind != .unavailable else { return }
        edit.isRefused = true
        if let write = writeOfRequest[edit.number] {
            throw Violation(
                "edit \(edit.number) is revision \(write.revision), and was refused: "
                    + error.message)
        }
    }

    /// Checks a whole state that was read at a revision.
    func compare(_ fields: [NamedField], at revision: Int64, _ globs: [Glob]?, _ what: String)
        throws
    {
        let form = forms[Int(revision)]
        let wanted = form.controls.map(\.id).filter { globs?.matches($0) ?? true }
        guard fields.map(\.id) == wanted else {
            throw Violation("\(what) at \(revision) shows \(fields.map(\.id)), not \(wanted)")
        }
        for field in fields {
            try compare(
                field.state, form.reading(field.id), field.id, form, "\(what) at \(revision)")
        }
    }

    func compare(
        _ told: FieldState, _ reading: OracleReading, _ id: String, _ form: OracleForm,
        _ what: String
    ) throws {
        func mismatch(_ member: String, _ told: Any, _ expected: Any) -> Violation {
            Violation("\(what): \(id) has \(member) \(told), expected \(expected)")
        }
        if form.control(id)?.kind == .secret {
            guard told.value.isNull else { throw mismatch("value", told.value, "null") }
            guard told.isSecretSet == reading.isSet else {
                throw mismatch("secret", told.isSecretSet ?? false, reading.isSet)
            }
            return
        }
        if told.value != reading.value { throw mismatch("value", told.value, reading.value) }
        if told.isSet != reading.isSet { throw mismatch("set", told.isSet, reading.isSet) }
        if told.isMixed != reading.isMixed {
            throw mismatch("mixed", told.isMixed, reading.isMixed)
        }
        if told.isInvalid != reading.isInvalid {
            throw mismatch("invalid", told.isInvalid, reading.isInvalid)
        }
        if told.revision != reading.revision {
            throw mismatch("revision", told.revision, reading.revision)
        }
        if !form.isVague(id), told.conflict.map(\.value) != reading.conflict {
            throw mismatch("conflict", told.conflict.map(\.value), reading.conflict)
        }
    }
}
