// Requests whose answers may wait for a commit.

internal import EngineTestKit
internal import SyncCore

/// What was asked of hosts and is not answered yet.
struct AskedOfHosts {
    private var waiting: [(host: Int, number: Int64, then: (Bool) -> Void)] = []
    private var asked: Int64 = 100

    /// Asks a host for its user root.
    ///
    /// - Parameter then: is told, once it answers, whether it has done so. A host that is killed
    ///   before does not answer.
    mutating func ask(
        _ host: FleetHost, _ request: Request, then: @escaping (Bool) -> Void
    ) {
        asked += 1
        waiting.append((host.index, asked, then))
        host.engine.call(host.root, request, as: asked)
        takeAnswers(of: [host])
    }

    /// Takes the answers that have come.
    mutating func takeAnswers(of hosts: [FleetHost]) {
        for host in hosts {
            for answer in host.engine.take(host.root) {
                let place = waiting.firstIndex {
                    $0.host == host.index && answer.contains("\"id\":\($0.number),")
                }
                guard let place else { continue }
                waiting.remove(at: place).then(answer.contains(#""result""#))
            }
        }
    }

    /// A host was killed.
    mutating func forget(_ host: FleetHost) { waiting.removeAll { $0.host == host.index } }
}
