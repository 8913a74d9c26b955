import Simulation
import Testing

extension LinkedFleet {
    /// The fields of a form with a count and a note.
    static let countAndNote =
        #"{"id":"count","type":"stepper","min":0,"max":100000},{"id":"note","type":"text"}"#

    /// A fleet whose hosts all have a form with a count, which the first one has incremented, and a
    /// note.
    static func counted(hosts: Int = 2, seed: UInt64) throws -> LinkedFleet {
        let world = try LinkedFleet(hosts: hosts, seed: seed)
        world.apply(countAndNote)
        world.increment(world.hosts[0])
        #expect(try world.settle() == nil)
        return world
    }

    /// Two hosts of which the first has missed this many increments of the second, which are
    /// durable there.
    static func behind(by increments: Int, seed: UInt64) throws -> LinkedFleet {
        let world = try LinkedFleet(seed: seed)
        world.apply(countAndNote)
        #expect(try world.settle() == nil)
        world.cut(world.hosts[0])
        for _ in 0..<increments { world.increment(world.hosts[1]) }
        try world.spend(seconds: 5)
        return world
    }
}
