/// Who has so many of the newest revisions of a form that the store need not keep older ones for
/// them. An estimate: somebody who is not named only costs time.
///
/// The revisions of each uid are counted in runs of as many as the store keeps for it.
struct RevisionAuthors {
    fileprivate struct Run {
        /// The first revision of the run, and how many it has.
        var first: UInt64 = 0
        var count = 0
        /// Where the complete run before began; 0 if there was none.
        var complete: UInt64 = 0
    }

    /// The author of the newest revision. Most have the author of the one before.
    private var newest: (uid: UInt32, run: Run)?
    private var others: [UInt32: Run] = [:]

    /// A revision was added. `nil`: it is in nobody's quota.
    ///
    /// - Parameter length: how many revisions the store keeps for each uid.
    mutating func note(_ uid: UInt32?, of revision: UInt64, runLength length: Int) {
        guard let uid else { return }
        if newest?.uid != uid {
            if let newest { others[newest.uid] = newest.run }
            newest = (uid, others.removeValue(forKey: uid) ?? Run())
        }
        newest?.run.add(revision, length: length)
    }

    /// The uids with a complete run above a revision. Those who have nothing there are forgotten.
    mutating func busy(after revision: UInt64) -> Set<UInt32> {
        others = others.filter { $0.value.first > revision || $0.value.complete > revision }
        var busy = Set(others.filter { $0.value.complete > revision }.keys)
        if let newest, newest.run.complete > revision { busy.insert(newest.uid) }
        return busy
    }
}

extension RevisionAuthors.Run {
    fileprivate mutating func add(_ revision: UInt64, length: Int) {
        if count == 0 { first = revision }
        count += 1
        guard count >= length else { return }
        complete = first
        count = 0
    }
}
