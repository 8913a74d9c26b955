// What other hosts have under way in the form: leases, runs and proposals.

internal import PickerClient
internal import SyncCore

extension FormPresentation {
    /// The other hosts that are away, and since when, longest first.
    var hostsAway: [(host: String, since: Timestamp)] {
        hosts.compactMap { host in host.awaySince.map { (host.host, $0) } }
            .sorted { ($0.since, $0.host) < ($1.since, $1.host) }
    }

    var leasesElsewhere: [HostUnderWay.Lease] { hosts.flatMap(\.leases) }

    /// The lease of a control's value that another host has.
    func leaseElsewhere(_ index: Int) -> FieldLease? {
        let leases = leasesElsewhere
        if leases.isEmpty { return nil }
        let ids = storedFields(of: index)
        return leases.first { ids.contains($0.field) }?.lease
    }

    var runsElsewhere: [HostUnderWay.Run] { hosts.flatMap(\.runs) }

    /// The presses of a button that other hosts have.
    func runsElsewhere(_ index: Int) -> [ButtonRun] {
        let runs = runsElsewhere
        if runs.isEmpty { return [] }
        let ids = storedFields(of: index)
        return runs.filter { ids.contains($0.field) }.map(\.run)
    }

    var proposalsElsewhere: [FormProposal] {
        hosts.flatMap { told in
            told.proposals.map { proposal in
                var proposal = proposal
                proposal.awaySince = told.awaySince
                return proposal
            }
        }
    }

    /// The fields whose values a control shows.
    private func storedFields(of index: Int) -> [String] {
        definition.targets[index].map { definition.controls[$0].id }
    }
}
