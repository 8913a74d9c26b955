// The servers of a fleet: one for each site, each with a stream, and the connections between them.
//
// The first server is the hub, and the others are its leaf nodes. A site that is cut off has its own
// hosts alone: requests to another domain reach nobody, and what a stream elsewhere delivers is lost.

package import SyncCore

/// The servers of a fleet: see the head of this file.
package struct ModelSites {
    /// One for each site, the hub's first.
    package var streams: [ModelStream]
    /// The site of each host.
    private let homes: [Int]
    private let names: [String]
    private var isCut: [Bool]

    /// The servers of these sites; a fleet with one site does not name it.
    ///
    /// - Parameter homes: the site of each host, by its number.
    package init(fleet: String, names: [String], homes: [Int], isOld: Bool) {
        self.names = names
        self.homes = homes
        streams = names.map { ModelStream(fleet: fleet, site: $0, isOld: isOld) }
        isCut = names.map { _ in false }
    }

    /// The sites as a host has them: its own first.
    package static func seen(_ names: [String], from home: Int) -> [String] {
        [names[home]] + names.enumerated().filter { $0.offset != home }.map(\.element)
    }

    /// Whether what a host says reaches another one.
    package func connects(_ host: Int, _ other: Int) -> Bool { joins(homes[host], homes[other]) }

    /// Whether a host is at a site, so that its bridge uses the server there.
    package func isAt(_ site: Int, _ host: Int) -> Bool { homes[host] == site }

    private func joins(_ site: Int, _ other: Int) -> Bool {
        site == other || !isCut[site] && !isCut[other]
    }

    // MARK: Faults

    /// A site loses its connection to the hub, or the hub those to all.
    package mutating func cut(_ site: Int) { isCut[site] = true }

    package mutating func heal() { isCut = isCut.map { _ in false } }

    package var hasCut: Bool { isCut.contains(true) }

    package mutating func disconnected(_ host: Int) {
        for site in streams.indices { streams[site].disconnected(host) }
    }

    // MARK: Messages

    /// What the servers answer to a message of a host.
    package mutating func receive(
        _ message: LinkPublication, from host: Int, at now: UInt64
    ) -> [LinkArrival] {
        let home = homes[host]
        let site =
            names.indices.first {
                !names[$0].isEmpty && message.subject.hasPrefix("$JS.\(names[$0]).")
            } ?? home
        guard joins(home, site) else { return [.nobody(message.reply ?? "")] }
        return streams[site].receive(message, from: host, at: now)
    }

    /// What streams have for the pulls of consumers now.
    package mutating func deliver(at now: UInt64) -> [(host: Int, arrival: LinkArrival)] {
        streams.indices.flatMap { site in
            streams[site].deliver(at: now).filter { joins(homes[$0.host], site) }
        }
    }
}
