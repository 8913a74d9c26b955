/// The forms of a daemon, by name and in the order of their creation.
///
/// Two forms may have one name for a moment: one whose deletion is not durable yet, and the one
/// that was created in its place. The newer one has the name, for as long as it is there.
struct FormRegistry {
    /// In the order in which they were created.
    private(set) var inOrder: [LiveForm] = []
    private var byName: [Name: LiveForm] = [:]
    /// The form that was looked up last: nearly always the one that is asked for next, and a
    /// comparison is a tenth of a hash. Only `look(up:)` sets it, and every change clears it.
    private var lastFound: LiveForm?

    /// A name as bytes: two names that are canonically equivalent are two names.
    private struct Name: Hashable {
        let name: String

        static func == (left: Name, right: Name) -> Bool {
            left.name.isSameBytes(as: right.name)
        }

        func hash(into hasher: inout Hasher) {
            var name = name
            name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    /// The form that has the name; of two, the newer.
    mutating func look(up name: String) -> LiveForm? {
        if let lastFound, lastFound.name.isSameBytes(as: name) { return lastFound }
        lastFound = byName[Name(name: name)]
        return lastFound
    }

    /// Adds a form, which takes its name over from an older one.
    mutating func insert(_ form: LiveForm) {
        lastFound = nil
        inOrder.append(form)
        byName[Name(name: form.name)] = form
    }

    /// Removes a form. An older one of the same name has the name again.
    mutating func remove(_ form: LiveForm) {
        lastFound = nil
        inOrder.removeAll { $0 === form }
        let name = Name(name: form.name)
        guard byName[name] === form else { return }
        byName[name] = inOrder.last { $0.name.isSameBytes(as: form.name) }
    }
}
