// What happens when the store rejects the changes of one form in a batch.
//
// Invariants: the other forms of the batch are durable and continue in the same logs. The form
// returns to its last committed state. Clients can read and watch it, but not edit it, until it is
// deleted or the daemon opens its store again. Below `commit`, published edits remain in memory,
// and the store is closed as after an unclean stop, so the next start creates new logs.

extension Engine {
    /// Removes rejected forms from a batch that is otherwise durable.
    ///
    /// - Returns: what waited for the edits of these forms.
    func leaveOut(_ failures: [FormFailure], of batch: inout OpenBatch) -> [OpenBatch.Waiter] {
        var waiters: [OpenBatch.Waiter] = []
        for failure in failures {
            guard let form = forms.first(where: { $0.key == failure.form }) else { continue }
            report(failure, of: form)
            keepDeleted(form, &batch)
            // Later edits depend on the edits that are now removed.
            let parts = [batch.leaveOut(form), link.gathering.leaveOut(form)]
            let keys = parts.flatMap(\.keys)
            var error: WireError?
            if waitsForCommits {
                link.keys.failed(keys.map(\.row))
                rollBack(form)
                error = refusal(of: form)
            } else {
                // These edits were answered. A retry in this run gets the same answer.
                link.keys.committed(keys.map(\.id))
            }
            for waiter in parts.flatMap(\.waiters) {
                answerWaiter(waiter, refused: error)
                waiters.append(waiter)
            }
        }
        return waiters
    }

    /// What is known of a deleted form stays as it was: its row is written again, as the batch had
    /// another one.
    private func keepDeleted(_ form: LiveForm, _ batch: inout OpenBatch) {
        if form.existence == .creating, form.link != nil { fleet?.refusedForms.insert(form.name) }
        guard
            batch.deletedForms.removeValue(forKey: form.name) != nil
                || link.gathering.deletedForms[form.name] != nil
        else { return }
        link.gathering.deletedForms.updateValue(
            link.deletedForms.durable[form.name], forKey: form.name)
    }

    /// Logs, with a number, why a form no longer accepts edits.
    private func report(_ failure: FormFailure, of form: LiveForm) {
        // A failure of a later pruning is the same failure.
        guard form.failureReport == nil else { return }
        let number = link.newReport()
        form.failureReport = number
        log(
            .error,
            "report \(number): the store refused the edits of form \(form.name): "
                + "\(failure.reason); the form is read only until the daemon starts again",
            [.event(.storeFailed), .form(form.name)])
    }

    /// Rejects an edit of a form whose edits the store has rejected.
    func requireWritable(_ form: LiveForm) throws(WireError) {
        if form.failureReport != nil { throw refusal(of: form) }
        if form.link != nil { try requireOwnEdits(of: form) }
    }

    private func refusal(of form: LiveForm) -> WireError {
        var error = WireError(
            .internal,
            "the store refused the edits of form \(form.name) (report "
                + "\(form.failureReport ?? 0) in the daemon's log); it can be read, and takes "
                + "edits again once the daemon was restarted", form: form.name)
        error.report = form.failureReport
        return error
    }
}
