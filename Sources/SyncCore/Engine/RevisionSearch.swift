/// A search in the revisions of a form, from newer to older ones.
protocol RevisionSearch {
    var form: LiveForm { get }
    /// Only revisions before this one.
    var before: UInt64 { get }

    /// Takes the next older revision. Returns whether the search continues.
    mutating func take(_ row: RevisionRow) -> Bool
}

extension Engine {
    /// Searches rows of the store, after those that are published but not in the store yet
    /// (`durability` below `commit`), also while the store cannot write.
    ///
    /// - Returns: whether some are left for another turn.
    func look<Search: RevisionSearch>(
        through rows: [RevisionRow], for search: inout Search, _ call: PendingCall
    ) throws(WireError) -> Bool {
        let form = search.form
        // The peer's permission may have changed during the read.
        guard try readableForm(form.name, call.peer) === form else {
            throw noForm(form.name, call.connection.peer)
        }
        if configuration.durability != .commit {
            let bytesMax =
                scheduler.isContended ? Account.contendedHistoryBytes : HistorySearch.bytesMax
            var left = bytesMax
            let newest = rows.first?.revision ?? 0
            link.scanRevisions(of: form, after: newest, before: search.before) { row in
                guard left > 0 else { return false }
                left -= max(128, row.told.count)
                return search.take(row)
            }
            scheduler.spend((bytesMax - left) >> 7, call.connection.account)
            if left <= 0 { return true }
        }
        for row in rows where !search.take(row) { break }
        return false
    }
}
