// One form, from its creation to its deletion.

import SyncCore

/// The state and the history of a form.
struct StoryForm {
    /// A field as readers see it.
    struct Reading: Equatable {
        var value: JSON
        var isSet: Bool
        var secret: Bool?
        var isMixed = false
        var isInvalid = false
        var isMissing = false
        var conflict: [JSON] = []
        /// The runs of a button that has them.
        var runs: JSON?
        var revision = 0
        var by: StoryAuthor?
        var lease: JSON?

        var json: JSONObject {
            var object = JSONObject([
                ("value", value), ("revision", .integer(revision)), ("set", .bool(isSet)),
            ])
            object["by"] = by?.json
            if !conflict.isEmpty { object["conflict"] = .array(conflict) }
            object["lease"] = lease
            object["secret"] = secret.map { .object(JSONObject([("set", .bool($0))])) }
            if isMixed { object["mixed"] = true }
            if isInvalid { object["invalid"] = true }
            if isMissing { object["missing"] = true }
            object["runs"] = runs
            return object
        }

        /// Whether a reader sees the same, except for the author and the revision.
        func readsAs(_ other: Self) -> Bool {
            value == other.value && isSet == other.isSet && secret == other.secret
                && isMixed == other.isMixed && isInvalid == other.isInvalid
                && isMissing == other.isMissing && runs == other.runs
                && conflict.count == other.conflict.count
        }
    }

    /// One revision.
    struct Revision {
        var number: Int
        /// The notification, after `StoryWire.normal`.
        var notice: JSON
        /// The fields that it changed; `nil` for all.
        var touched: Set<String>?
        /// Its entry in the history.
        var entry: JSON
        /// The number of writes up to it.
        var writes = 0
        /// For edits: the `conflict` that a reader sees in each changed field at this revision. The
        /// notification also lists other values that a policy did not keep.
        var conflicts: [String: [JSON]]?
    }

    /// Unique among all forms that were ever created.
    let serial: Int
    let owner: Int
    /// The definition as applied, and the present one with run-time options.
    var applied: StoryDefinition
    var definition: StoryDefinition
    var version = 0
    var revision = 0
    /// The number of writes.
    var writes = 0
    /// The epochs of the daemon's replica, and the number of writes before each.
    var epochs: [(number: Int, after: Int)] = []
    var contents: [String: StoryContent] = [:]
    /// The leases of the controls that have some.
    var leases: [String: StoryLeases] = [:]
    /// What each silent write repeats.
    var repeats: [StoryRepeat.Place: StoryRepeat] = [:]
    /// The author and the revision of the last change of what a control shows.
    var touches: [String: (revision: Int, by: StoryAuthor)] = [:]
    var revisions: [Revision] = []
    /// By button.
    var runs: [String: StoryRuns] = [:]
    /// The presses that have ended, with their buttons, oldest first.
    var ended: [(field: String, run: StoryRun)] = []
    /// The one that has waited longest comes first.
    var handlers: [StoryHandler] = []
    /// What handlers said of each run.
    var progress: [Int: [JSON]] = [:]
    var journal = StoryJournal()
    /// In the order of their numbers.
    var proposals: [StoryProposal] = []
    /// The name of its log of revisions, once an answer contained it.
    var log: String?
    /// A name that was learned while the store failed: from before or after the failed commit.
    var uncertainLog: String?
    /// While the store fails: the name before that, if it is known.
    var storedLog: String?

    var name: String { definition.name }

    init(serial: Int, owner: Int, _ definition: StoryDefinition) {
        self.serial = serial
        self.owner = owner
        applied = definition
        self.definition = definition
        for control in definition.controls { contents[control.id] = StoryContent(control.store) }
    }

    // MARK: - Reading

    func stored(_ id: String) -> (value: JSON, isSet: Bool) {
        guard let control = definition.control(id) else { return (.null, false) }
        return (contents[id] ?? .nothing).read(control)
    }

    /// A control as it shows.
    func shown(_ id: String) -> Reading {
        guard let control = definition.control(id) else {
            return Reading(value: .null, isSet: false)
        }
        let targets = definition.targets(id)
        let values = targets.map { stored($0) }
        var reading = Reading(
            value: .null, isSet: !values.isEmpty && values.allSatisfy(\.isSet))
        switch control.kind {
        case .label: return reading
        case .secure:
            reading.secret = reading.isSet
            reading.isMissing = control.isRequired && !reading.isSet
            return reading
        case .button:
            reading.value = values.first?.value ?? .null
            if let root = targets.first, definition.control(root)?.runs != nil {
                reading.runs = (runs[root] ?? StoryRuns()).json
            }
            return reading
        default: break
        }
        reading.value = values.first?.value ?? .null
        if values.contains(where: { $0.value != reading.value }) {
            reading.value = .null
            reading.isMixed = true
            return reading
        }
        if control.kind == .gauge, control.binds != nil, let number = reading.value.integerValue {
            reading.value = .integer(max(control.minimum, min(control.maximum, Int(number))))
        }
        if control.kind == .multiple, let tags = reading.value.arrayValue {
            reading.value = .array(
                StoryContent.ordered(tags.compactMap(\.stringValue), control))
        }
        reading.isInvalid = !control.accepts(reading.value)
        let isEmpty = [.null, "", []].contains(reading.value)
        reading.isMissing = control.isRequired && !reading.isInvalid && isEmpty
        return reading
    }

    /// A field in an answer or a notification. `notifying`: the edit was concurrent to others, so
    /// the notification lists the other values under every policy.
    func reading(_ id: String, notifying: Bool = false) -> Reading {
        var reading = shown(id)
        reading.revision = touches[id]?.revision ?? 0
        reading.by = touches[id]?.by
        reading.lease = leaseJSON(id)
        for target in definition.targets(id) {
            guard let control = definition.control(target),
                notifying || control.conflictPolicy == "ask"
            else { continue }
            reading.conflict += (contents[target] ?? .nothing).siblings(control).map {
                .object(JSONObject([("value", $0.value), ("by", $0.by.json)]))
            }
        }
        return reading
    }

    func fields(_ ids: [String]) -> JSON {
        .object(JSONObject(ids.map { ($0, .object(reading($0).json)) }))
    }

    /// Whether a control accepts edits.
    func isEnabled(_ id: String) -> Bool {
        guard let control = definition.control(id), !control.isDisabled else { return false }
        guard let condition = control.enabledWhen else { return true }
        let reading = shown(condition.field)
        return !reading.isMixed && !reading.isInvalid && reading.value == .bool(condition.value)
    }
}
