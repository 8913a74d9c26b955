import TestKit
import Testing

@testable import SyncCore

/// The deadlines of all forms, alone.
@Suite struct DeadlinesTests {
    private func name(_ number: Int, form: FormKey = 1) -> Deadlines.Name {
        Deadlines.Name(form: form, name: OngoingName(kind: "test", id: "n\(number)"))
    }

    private func at(_ steady: Int64, wall: Int64 = 0) -> Deadlines.Reading {
        Deadlines.Reading(steady: steady, wall: wall)
    }

    /// Takes what is due in all forms.
    private func takeDue(
        _ deadlines: inout Deadlines, _ now: Deadlines.Reading
    ) -> [Deadlines.Name] {
        var due: [Deadlines.Name] = []
        while let (form, names) = deadlines.takeDue(at: now) {
            due += names.map { Deadlines.Name(form: form, name: $0) }
        }
        return due.sorted()
    }

    @Test("deadlines are due in their time, on their clock, by form and name")
    func due() {
        var deadlines = Deadlines()
        #expect(deadlines.isEmpty && deadlines.wait(at: at(0)) == nil)
        deadlines.set(name(2), at: .steady(100))
        deadlines.set(name(1, form: 2), at: .steady(100))
        deadlines.set(name(1), at: .wall(5_000))
        #expect(!deadlines.isDue(at: at(99, wall: 4_999)))
        let due = deadlines.takeDue(at: at(100, wall: 5_000))
        #expect(due?.form == 1 && due?.names == [name(1).name, name(2).name])
        let taken1 = takeDue(&deadlines, at(100, wall: 5_000))
        #expect(taken1 == [name(1, form: 2)])
        #expect(deadlines.isEmpty && !deadlines.isDue(at: at(1 << 40, wall: 1 << 40)))
    }

    @Test("a deadline that was moved or cancelled does not come at its old time")
    func moved() {
        var deadlines = Deadlines()
        deadlines.set(name(1), at: .steady(100))
        deadlines.set(name(1), at: .wall(100))
        deadlines.set(name(2), at: .steady(50))
        deadlines.cancel(name(2))
        deadlines.set(name(3), at: .steady(70))
        deadlines.set(name(3), at: .steady(900))
        let taken2 = takeDue(&deadlines, at(500, wall: 99))
        #expect(taken2.isEmpty)
        #expect(deadlines[name(1)] == .wall(100) && deadlines[name(2)] == nil)
        let taken3 = takeDue(&deadlines, at(500, wall: 100))
        #expect(taken3 == [name(1)])
        let taken4 = takeDue(&deadlines, at(1_000))
        #expect(taken4 == [name(3)])
    }

    @Test("a wall time is judged again when the clock is set, in both directions")
    func leap() {
        var deadlines = Deadlines()
        deadlines.set(name(1), at: .wall(10_000))
        #expect(deadlines.wait(at: at(0, wall: 9_000)) == 1_000)
        #expect(deadlines.wait(at: at(0, wall: -90_000)) == Deadlines.waitMaxMilliseconds)
        #expect(!deadlines.isDue(at: at(0, wall: -90_000)))
        #expect(deadlines.wait(at: at(0, wall: 1 << 50)) == 0)
        #expect(deadlines.isDue(at: at(0, wall: 1 << 50)))
    }

    @Test("the wait is that of the earliest, and at most ten seconds, in the whole range")
    func wait() {
        var deadlines = Deadlines()
        deadlines.set(name(1), at: .steady(.max))
        #expect(deadlines.wait(at: at(-1)) == 10_000)
        deadlines.set(name(2), at: .wall(.min))
        #expect(deadlines.wait(at: at(-1, wall: .max)) == 0)
        let taken5 = takeDue(&deadlines, at(-1, wall: .max))
        #expect(taken5 == [name(2)])
        deadlines.set(name(3), at: .steady(2_500))
        #expect(deadlines.wait(at: at(1_000)) == 1_500)
    }

    @Test("random deadlines come as in a sorted list")
    func model() {
        var random = SplitMix64(seed: 11)
        var deadlines = Deadlines()
        var model: [Deadlines.Name: Deadlines.Time] = [:]
        var now = at(0)
        for _ in 0..<20_000 {
            let form = FormKey.random(in: 1...4, using: &random)
            let name = name(Int.random(in: 0..<50, using: &random), form: form)
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                deadlines.cancel(name)
                model[name] = nil
            case 1:
                now.steady += Int64.random(in: 0..<400, using: &random)
                now.wall += Int64.random(in: -2_000..<2_400, using: &random)
                let due = model.filter { $0.value.isReached(at: now) }.keys.sorted()
                #expect(deadlines.isDue(at: now) == !due.isEmpty)
                let taken6 = takeDue(&deadlines, now)
                #expect(taken6 == due)
                for name in due { model[name] = nil }
            default:
                let delay = Int64.random(in: -100..<5_000, using: &random)
                let time: Deadlines.Time =
                    Bool.random(using: &random)
                    ? .steady(now.steady + delay) : .wall(now.wall + delay)
                deadlines.set(name, at: time)
                model[name] = time
            }
            #expect(deadlines.count == model.count && deadlines[name] == model[name])
        }
    }
}

extension Deadlines.Time {
    fileprivate func isReached(at now: Deadlines.Reading) -> Bool {
        switch self {
        case .steady(let at): at <= now.steady
        case .wall(let at): at <= now.wall
        }
    }
}
