// The results of a form's rules for its controls, computed again when one of their inputs changes.
//
// Invariants: `dependents` is `sources` the other way round, so a change of a stored value computes
// again only the controls that show something of it.

internal import PickerClient
internal import SyncCore

/// What a form's rules give for each control.
struct FormReadings {
    /// The result for one control.
    struct Reading {
        var shown: ShownValue
        var text: String
        var isVisible: Bool
        var isEnabled: Bool
        var lease: FieldLease?
        var runs: ButtonRuns?
        var isRunning: Bool
        /// Whether there is more than a value: a lease, a run, concurrent values.
        var isRare: Bool
    }

    /// Whether a section is shown, and the controls that decide it.
    private typealias SectionReading = (number: Int, isShown: Bool, sources: [Int])

    /// By the number of the control.
    private var readings: [Reading] = []
    /// How many readings are rare.
    private var rareCount = 0
    /// The controls whose stored values a reading depends on, in the same order.
    private var sources: [[Int]] = []
    /// The controls whose readings depend on the stored value of a control, in the same order.
    private var dependents: [[Int]] = []

    /// The readings of all controls.
    init(_ definition: FormDefinition, _ replica: FormReplica) {
        var section: SectionReading?
        let all = definition.controls.indices.map {
            Self.reading($0, definition, replica, &section)
        }
        readings = all.map(\.0)
        rareCount = readings.count(where: \.isRare)
        sources = all.map(\.sources)
        dependents = Array(repeating: [], count: all.count)
        for (index, sources) in sources.enumerated() {
            for source in sources { dependents[source].append(index) }
        }
    }

    /// The reading of a control.
    subscript(index: Int) -> Reading { readings[index] }

    /// Whether no control has more than its value: a lease, a run, concurrent values.
    var hasOnlyValues: Bool { rareCount == 0 }

    /// Whether a handler works on a press of any button.
    var isAnyRunning: Bool { readings.contains { $0.isRunning } }

    /// When values end by themselves.
    var leaseEnds: [Timestamp] {
        hasOnlyValues ? [] : readings.compactMap { $0.lease?.until }
    }

    /// The controls that show something of the stored values of others, ascending.
    func controls(showing changed: [Int]) -> [Int] {
        if changed.count == 1 { return dependents[changed[0]] }
        return changed.flatMap { dependents[$0] }.sortedDistinct()
    }

    /// Computes the readings of these controls again. Returns the controls; `nil` if one of them
    /// appeared or disappeared, or has or had more than a value.
    mutating func read(
        _ controls: [Int], _ definition: FormDefinition, _ replica: FormReplica
    ) -> [Int]? {
        var section: SectionReading?
        var isOnlyValues = true
        for index in controls {
            let (reading, sources) = Self.reading(index, definition, replica, &section)
            let (isRare, wasRare) = (reading.isRare, readings[index].isRare)
            rareCount += (isRare ? 1 : 0) - (wasRare ? 1 : 0)
            if isRare || wasRare || reading.isVisible != readings[index].isVisible {
                isOnlyValues = false
            }
            readings[index] = reading
            if sources == self.sources[index] { continue }
            for source in self.sources[index] { dependents[source].removeAll { $0 == index } }
            for source in sources {
                let place = dependents[source].partitionIndex { $0 > index }
                dependents[source].insert(index, at: place)
            }
            self.sources[index] = sources
        }
        return isOnlyValues ? controls : nil
    }

    private static func reading(
        section number: Int, _ definition: FormDefinition, _ replica: FormReplica
    ) -> SectionReading {
        var sources: [Int] = []
        let isShown = definition.isShown(section: number) {
            sources.append($0)
            return replica.stored($0, definition)
        }
        return (number, isShown, sources.sortedDistinct())
    }

    /// - Parameter last: The section that was read last. It may have a long condition and many
    ///   controls, which are read one after the other.
    private static func reading(
        _ index: Int, _ definition: FormDefinition, _ replica: FormReplica,
        _ last: inout SectionReading?
    ) -> (Reading, sources: [Int]) {
        let number = definition.controls[index].section
        let known = last?.number == number ? last : nil
        let section = known ?? reading(section: number, definition, replica)
        last = section
        var sources = section.sources
        sources.append(index)
        func value(_ source: Int) -> JSON {
            if sources.last != source { sources.append(source) }
            return replica.stored(source, definition)
        }
        let state = replica[definition.controls[index].id]
        let isRunning = state?.runs?.running.isEmpty == false
        let shown = definition.shown(index, values: value)
        let reading = Reading(
            shown: shown,
            text: definition.percent(replica.stored(index, definition), index)
                ?? definition.displayText(of: index, shown, values: value),
            isVisible: section.isShown && definition.isShownInSection(index, values: value),
            isEnabled: definition.isEnabled(index, values: value),
            lease: state?.lease, runs: state?.runs, isRunning: isRunning,
            isRare: isRunning || state?.lease != nil || state?.conflict.isEmpty == false)
        return (reading, sources.sortedDistinct())
    }
}

extension FormReplica {
    /// The stored value of a control with the pending edits applied.
    func stored(_ index: Int, _ definition: FormDefinition) -> JSON {
        value(of: definition.controls[index].id, in: definition) ?? .null
    }
}
