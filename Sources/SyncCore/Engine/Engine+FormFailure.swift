// What happens when the store refuses what a batch does to one form.
//
// Always holds: the other forms of the batch are durable and are told, in the logs that they have.
// The form is as it was committed last; it is read and watched as before and takes no edits, until
// it is deleted or the daemon opens its store again. Below `commit`, what was told of it remains in
// memory, and the store closes as after an unclean stop, so that the next start begins new logs.

extension Engine {
    /// Takes the forms that the store refused out of a batch that is durable otherwise.
    ///
    /// - Returns: the responses that were not given; their edits were answered `internal`.
    func leaveOut(
        _ failures: [FormFailure], of batch: inout BatchQueue.Open, _ effects: inout [Effect]
    ) -> [BatchQueue.Waiter] {
        var refused: [BatchQueue.Waiter] = []
        for failure in failures {
            guard let form = forms.first(where: { $0.key == failure.form }) else { continue }
            report(failure, of: form, &effects)
            // What was edited since was edited on top of what is not there now.
            let parts = [batch.leaveOut(form), batches.gathering.leaveOut(form)]
            let keysOfForm = parts.flatMap(\.keys)
            guard configuration.durability == .commit else {
                // The edits were told and answered; a retry in this run gets the same answer.
                keys.committed(keysOfForm.map(\.id))
                for waiter in parts.flatMap(\.waiters) {
                    guard let connection = settled(waiter) else { continue }
                    if waiter.id != nil { deliver(waiter.response, to: waiter.target, connection) }
                    closeOnceSettled(connection, &effects)
                    refused.append(waiter)
                }
                continue
            }
            keys.failed(keysOfForm.map(\.row))
            rollBack(form)
            let error = refusal(of: form)
            for waiter in parts.flatMap(\.waiters) {
                guard let connection = settled(waiter) else { continue }
                refuse(waiter, connection, error, &effects)
                refused.append(waiter)
            }
        }
        return refused
    }

    /// Tells the log why a form takes no edits from now on, under a number.
    private func report(
        _ failure: FormFailure, of form: LiveForm, _ effects: inout [Effect]
    ) {
        // Pruning may fail once more: that is the same failure.
        guard form.failureReport == nil else { return }
        lastReport += 1
        form.failureReport = lastReport
        log(
            .error,
            "report \(lastReport): the store refused the edits of form \(form.name): "
                + "\(failure.reason); the form is read only until the daemon starts again",
            &effects, [.event(.storeFailed), .form(form.name)])
    }

    /// Refuses an edit of a form whose edits the store refused.
    func requireWritable(_ form: LiveForm) throws(WireError) {
        if form.failureReport != nil { throw refusal(of: form) }
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
