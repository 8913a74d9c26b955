// From the result of a transaction to its notification and its rows.

extension Engine {
    /// Adds the result of a transaction to the gathering batch, and sets deadlines of its leases.
    func publish(_ transaction: Transaction, _ message: String?) {
        let form = transaction.form
        if let shared = transaction.shared { gather(shared, transaction.record, of: form, message) }
        guard let record = transaction.record else {
            if transaction.silent.isEmpty { return }
            onSilentWrite?(transaction.author, transaction.revision, Array(transaction.dots))
            return gather(transaction.silent, of: form)
        }
        for place in transaction.touched.indices {
            armLeases(transaction.touched.element(place), of: form)
        }
        var frame = appendFrame(of: transaction, message, tellsWas: true)
        if frame.count - Frame.headerBytes > configuration.limits.maxFrame {
            // The new values fit in a frame, as every snapshot does, but not always with the
            // earlier values. No client accepts a larger frame, so every subscriber would be
            // disconnected.
            form.changeLog.remove(from: transaction.revision, registry.retained)
            frame = appendFrame(of: transaction, message, tellsWas: false)
        }
        var cells = transaction.touched
        for index in transaction.rare?.onlySilent ?? Few() { cells.append(index) }
        publish(record, frame, cells: cells, of: form)
    }

    /// Adds the newest revision of a form to the gathering batch.
    ///
    /// - Parameters:
    ///   - frame: its notification, in the form's log.
    ///   - cells: What the store must write.
    func publish(
        _ record: RevisionRecord, _ frame: SharedBytes, cells: Few<Int>, of form: LiveForm
    ) {
        let revision = form.working.revision
        let row = RevisionRow(
            form: form.key, revision: revision, at: clocks.steadyMilliseconds(),
            frame: frame, record: record)
        if !form.isUndoStored {
            form.undo.append(
                record, bytes: row.bytesEstimate - frame.count, revision: revision,
                depthMax: configuration.limits.undoDepthMax)
        }
        gather(.cells(cells), of: form, consume row)
    }

    /// Writes the notification of a transaction to the log of its form.
    private func appendFrame(
        of transaction: Transaction, _ message: String?, tellsWas: Bool
    ) -> SharedBytes {
        let (form, state) = (transaction.form, transaction.state)
        let numbers = form.numbers(ofControls: transaction.touched, in: state.definition)
        var ranges = Few<Range<Int>>()
        let frame = form.changeLog.append(
            touched: numbers, bytesMax: configuration.limits.changeLogBytesMax
        ) { writer in
            Answer.encodeNotification("state.changed", into: &writer) { writer in
                StateChanged.encode(
                    form.stateStart, revision: Revision(clamping: transaction.revision),
                    message: message, into: &writer
                ) {
                    state.writeToken(into: &$0)
                } changes: { writer in
                    for place in transaction.touched.indices {
                        let index = transaction.touched.element(place)
                        let hasWas = tellsWas && state.definition.types[index] != .secure
                        FieldChange.encode(
                            state.definition.controls[index].id,
                            was: hasWas ? transaction.before.element(place).shownValue : nil,
                            into: &writer
                        ) { writer in
                            let start = writer.nextValue
                            state.write(
                                index,
                                notifying: transaction.rare?.concurrent.contains(sorted: index)
                                    ?? false,
                                into: &writer)
                            ranges.append(start..<writer.count)
                        }
                    }
                }
            }
        }
        transaction.texts = ranges.mapped { frame[$0] }
        return frame
    }
}
