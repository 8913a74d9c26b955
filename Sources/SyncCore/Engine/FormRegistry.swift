/// The forms of a daemon, by name and in order of creation.
///
/// Two forms can briefly have the same name: one whose deletion is not durable yet, and its
/// replacement. The name refers to the newer one as long as it exists.
struct FormRegistry {
    /// In order of creation.
    private(set) var inOrder: [LiveForm] = []
    private var byName: [Name: LiveForm] = [:]
    /// The last result of `look(up:)`: nearly always the form of the next request, and a comparison
    /// is cheaper than a hash. Only `look(up:)` sets it, and every change clears it.
    private var lastFound: LiveForm?

    /// A name as bytes, because canonically equivalent names are different names.
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

    /// The form with that name; the newer one of two.
    mutating func look(up name: String) -> LiveForm? {
        if let lastFound, lastFound.name.isSameBytes(as: name) { return lastFound }
        lastFound = byName[Name(name: name)]
        return lastFound
    }

    /// Inserts a form. An older form of the same name loses the name.
    mutating func insert(_ form: LiveForm) {
        lastFound = nil
        inOrder.append(form)
        byName[Name(name: form.name)] = form
    }

    /// Removes a form. An older form of the same name gets the name back.
    mutating func remove(_ form: LiveForm) {
        lastFound = nil
        inOrder.removeAll { $0 === form }
        let name = Name(name: form.name)
        guard byName[name] === form else { return }
        byName[name] = inOrder.last { $0.name.isSameBytes(as: form.name) }
    }
}
