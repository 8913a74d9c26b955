// The list of forms, for those who ask and those who watch it.

extension Engine {
    /// Bytes of a title in the list of forms. The list is one frame for all who may read the forms,
    /// and their owners must not make it longer than their readers take.
    private static var listedTitleBytesMax: Int { 256 }

    func formList(_ call: PendingCall) {
        let peer = call.connection.peer
        scheduler.spend(forms.count >> 2, call.connection.account)
        let summaries = forms.filter { $0.isReadable && mayRead($0, peer) }.map { form in
            var summary = FormList.Summary(
                form: form.name,
                title: form.committed.definition.title?.cut(toBytes: Self.listedTitleBytesMax),
                version: Int64(clamping: form.committed.version),
                revision: Revision(clamping: form.committed.revision),
                fields: Int64(form.committed.cells.count),
                subscribers: Int64(form.subscriptionCount))
            summary.proposals = waitingProposals(of: form).map { Int64($0.count) }
            summary.link = sharedState(of: form)
            return summary
        }
        let list = FormList(forms: summaries)
        answer(call) { list.encode(into: &$0) }
    }

    func formWatch(_ call: PendingCall) {
        registry.catalog.watch(call.connection)
        formList(call)
    }

    func readers(of form: LiveForm, _ state: FormState) -> FormReaders {
        let rule = state.definition.access.read
        return FormReaders(
            rule: rule, owner: form.owner,
            sharedOwner: rule.principals.contains(.owner) ? state.sharedOwner : nil)
    }

    func mayRead(_ readers: FormReaders, _ peer: Peer) -> Bool {
        peer.uid == 0 || peer.uid == configuration.daemonUID
            || readers.rule.permits(
                peer, owner: owner(readers.owner, readers.sharedOwner, for: peer))
    }

    func mayRead(_ form: LiveForm, _ peer: Peer) -> Bool {
        mayRead(readers(of: form, form.committed), peer)
    }

    /// Sends a frame to the watchers of the form list that may read the form.
    func notifyListWatchers(_ frame: [UInt8], for readers: FormReaders) {
        registry.catalog.append(
            frame, readers: readers, bytesMax: configuration.limits.changeLogBytesMax)
        for connection in registry.catalog.watchers { scheduler.markReady(connection) }
    }

    /// Adds the entries that a watcher of the form list has not received to a write.
    func collectCatalog(
        _ connection: Connection, _ cursor: inout UInt64, into output: inout Output, bytesMax: Int
    ) {
        guard cursor >= registry.catalog.first else {
            // The definitions of all forms have no bound that fits one write. A client that has
            // missed some is disconnected and reads the list again.
            effects.cutOff(.slow(connection))
            return
        }
        registry.catalog.read(from: &cursor, into: &output, bytesMax: bytesMax) {
            mayRead($0, connection.peer)
        }
    }
}
