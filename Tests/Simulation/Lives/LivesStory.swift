// What a search of lives sees of a host, and what it tells of it when something is wrong.

internal import EngineTestKit
internal import SyncCore

/// What happened in a run.
struct LivesStory {
    var lines: [String] = []
    /// The values and the lives of each host when it was last looked at.
    private var seen: [Int: (tags: Set<String>, lives: Set<UInt64>)] = [:]

    /// Tells what hosts have lost or got.
    mutating func note(_ hosts: [FleetHost]) {
        for host in hosts {
            let former = seen[host.index] ?? ([], [])
            let now = host.form == nil ? [] : host.tags
            let (new, lost) = (now.subtracting(former.tags), former.tags.subtracting(now))
            if !new.isEmpty || !lost.isEmpty {
                lines.append("    h\(host.index) +\(new.sorted()) -\(lost.sorted())")
            }
            let lives = host.form?.allLives ?? []
            if lives != former.lives {
                let short = lives.map { $0 % 10_000 }.sorted()
                lines.append("    h\(host.index) has the lives \(short)")
            }
            seen[host.index] = (now, lives)
        }
    }
}

extension FleetHost: CustomStringConvertible {
    /// The form, if it is not being deleted.
    var form: LiveForm? {
        engine.engine.form(named: "shared").flatMap { $0.isEditable ? $0 : nil }
    }

    /// Another form of its name, which waits for a decision.
    var other: WholeForm? { engine.engine.fleet?.otherForms["shared"]?.whole }

    /// The values that readers see.
    var tags: Set<String> { Set((value("tags")?.arrayValue ?? []).compactMap(\.stringValue)) }

    /// What the daemon knows: also what was joined and is not read yet.
    var tagsKnown: Set<String> {
        guard let state = form?.working, let index = state.definition.index(of: "tags")
        else { return [] }
        return Set((state.value(index).arrayValue ?? []).compactMap(\.stringValue))
    }

    package var description: String {
        var parts = ["h\(index)"]
        if let form, let lives = form.lives {
            parts.append("form \(lives), linked \(form.link != nil)")
            parts.append("[\(form.committed.context)]")
            for store in engine.engine.whole(of: "shared")?.stores ?? [] {
                parts.append("\(store.id) \(store.store)")
            }
        } else if let deleted = engine.engine.whole(of: "shared") {
            parts.append("deleted \(deleted.lives), [\(deleted.context)]")
            for store in deleted.stores { parts.append("\(store.id) \(store.store.dots)") }
        }
        if let other { parts.append("other \(other.lives)") }
        return (parts + engine.call(root, .serverStatus)).joined(separator: "; ")
    }
}

extension LiveForm {
    /// The lives of the form that it is, and of those that it was.
    var allLives: Set<UInt64> { lives.map { $0.former.union([$0.present]) } ?? [] }
}

extension WholeForm {
    /// The values of the field tags.
    var tags: Set<String> {
        for store in stores where store.id == "tags" {
            if case .tags(let set) = store.store {
                return Set(set.tags.compactMap(\.json.stringValue))
            }
        }
        return []
    }
}
