/// Reads: the image at start, the engine's queries, the figures.

public import SyncCore

extension Store {
    /// Reads the engine's initial state.
    ///
    /// It has no revisions: the engine reads them when they are needed.
    ///
    /// - Parameter keysNotBefore: only keys used since this time (milliseconds of `KeyRow.at`),
    ///   which may be computed from the bytes of the clock.
    public func loadImage(keysNotBefore: ([UInt8]) -> Int64) throws(StoreError) -> StoreImage {
        try exclusively { () throws(StoreError) in
            // A new file is empty, and reading it would wait for the disk.
            if case .adoption = unfinishedOpening { return StoreImage() }
            do throws(StoreError) {
                let database = try readable()
                return try database.foldedImage(keysNotBefore: keysNotBefore)
            } catch .damaged(let file, let finding, _) {
                let copy = files.preserveDamaged()
                try? files.prunePreserved(max: options.preservedMax)
                throw .damaged(file: file, finding: finding, copy: copy)
            }
        }
    }

    /// Answers a query of the engine from committed rows.
    ///
    /// Revisions are contiguous from the first one, because pruning removes the oldest. If a query
    /// starts at a revision that was pruned, the number of the first row shows it. Revisions that
    /// are kept beyond the newest are only returned for history.
    public func answer(_ query: StoreQuery) -> StoreAnswer {
        exclusively {
            do throws(StoreError) {
                let database = try readable()
                switch query {
                case .revisions(let form, let from, let rowsMax, let bytesMax):
                    return .revisions(
                        try database.revisions(
                            of: form, from: from, rowsMax: rowsMax, bytesMax: bytesMax))
                case .history(let form, let before, let rowsMax, let bytesMax):
                    return .revisions(
                        try database.history(
                            of: form, before: before, rowsMax: rowsMax, bytesMax: bytesMax))
                case .journal(let form, let rowsMax, let bytesMax):
                    return .revisions(
                        try database.journal(of: form, rowsMax: rowsMax, bytesMax: bytesMax))
                case .key(let uid, let key):
                    return .key(try database.key(uid: uid, key: key))
                case .backup:
                    let made = try beginBackup()
                    return .backup(made.number, bytes: made.bytes)
                case .backupPiece(let number, let offset, let bytesMax):
                    guard let copy, copy.number == number else { return .backupPiece(nil) }
                    guard let bytes = copy.read(at: offset, count: bytesMax) else {
                        return .failed("\(files.backup): the copy cannot be read")
                    }
                    return .backupPiece(bytes)
                case .backupEnd(let number):
                    if copy?.number == number { copy = nil }
                    return .backupPiece(nil)
                }
            } catch {
                return .failed(error.description)
            }
        }
    }

    /// The store's figures; two look-ups per form. Revisions that are kept beyond the newest are
    /// not counted, because that would read all of them every few seconds.
    public func statistics() throws(StoreError) -> StoreStatistics {
        try exclusively { () throws(StoreError) in
            let database = try readable()
            // Revisions are contiguous, so the first and the last give the number.
            let newest = try database.integer(
                """
                SELECT total(newest - oldest + 1) FROM (SELECT
                (SELECT last FROM log WHERE form = key ORDER BY first DESC LIMIT 1) AS newest,
                (SELECT min(first) FROM log WHERE form = key) AS oldest FROM form)
                """)
            return StoreStatistics(
                bytes: try POSIX.size(files.database),
                pages: Int(try database.integer("PRAGMA page_count")),
                freePages: Int(try database.integer("PRAGMA freelist_count")),
                walBytes: try POSIX.size(files.wal), revisions: Int(newest))
        }
    }
}

extension Database {
    /// The image after a fold. A start writes nothing, so the fold is taken back.
    fileprivate func foldedImage(
        keysNotBefore: ([UInt8]) -> Int64
    ) throws(StoreError) -> StoreImage {
        guard try countUnfolded() > 0 else { return try image(keysNotBefore: keysNotBefore) }
        // Otherwise a large fold would write pages before its end.
        try execute("PRAGMA cache_spill = OFF")
        try run(.begin)
        defer {
            rollBack()
            try? execute("PRAGMA cache_spill = ON")
        }
        try fold()
        return try image(keysNotBefore: keysNotBefore)
    }

    private func image(keysNotBefore: ([UInt8]) -> Int64) throws(StoreError) -> StoreImage {
        var image = StoreImage()
        let forms = try statement(.allForms)
        while try forms.step() { image.forms.append(forms.formRow) }
        let fields = try statement(.allFields)
        while try fields.step() {
            image.fields.append(
                FieldRow(form: fields.integer(0), field: fields.text(1), state: fields.blob(2)))
        }
        let ongoing = try statement(.allOngoing)
        while try ongoing.step() {
            image.ongoing.append(
                OngoingRow(
                    form: ongoing.integer(0),
                    name: OngoingName(kind: ongoing.text(1), id: ongoing.text(2)),
                    state: ongoing.blob(3)))
        }
        let clock = try statement(.clock)
        if try clock.step() { image.clock = clock.blob(0) }
        clock.reset()
        let keys = try statement(.keysSince, keysNotBefore(image.clock))
        while try keys.step() {
            image.keys.append(
                KeyDigest(
                    uid: UInt32(truncatingIfNeeded: keys.integer(0)), key: keys.text(1),
                    at: keys.integer(2)))
        }
        return image
    }
}
