import Glibc
import Synchronization
import Testing

@testable import EventLoop

@Suite struct WakerTests {
    @Test("wakes from many threads reach the loop, and none is lost")
    func manyThreads() throws {
        final class Tally: Sendable { let count = Atomic<Int>(0) }
        let tally = Tally()
        let total = 4 * 2_000
        var seen = 0
        var wakes = 0
        try withTestLoop { loop in
            let source = try WakeSource(loop: loop)
            source.onWake = {
                wakes += 1
                seen = tally.count.load(ordering: .acquiring)
                if seen == total { source.close() }
            }
            let waker = source.waker
            let threads = (0..<4).map { _ in
                TestThread {
                    for _ in 0..<2_000 {
                        tally.count.add(1, ordering: .releasing)
                        waker.wake()
                    }
                }
            }
            loop.run()
            for thread in threads { thread.join() }
        }
        #expect(seen == total)
        #expect((1...total).contains(wakes))
    }

    @Test("a wake after the close answers false, also when threads race with the close")
    func afterClose() throws {
        for _ in 0..<20 {
            try withTestLoop { loop in
                let source = try WakeSource(loop: loop)
                let waker = source.waker
                source.onWake = { source.close() }
                let threads = (0..<3).map { _ in TestThread { while waker.wake() {} } }
                loop.run()
                for thread in threads { thread.join() }
                #expect(!waker.wake())
            }
        }
    }
}

@Suite struct WorkTests {
    @Test("many pieces of work run elsewhere and each result comes back on the loop, once")
    func manyAtOnce() throws {
        var results = [Int](repeating: 0, count: 300)
        let here = pthread_self()
        try withTestLoop { loop in
            for index in 0..<300 {
                Work.start(on: loop) {
                    (index * index, pthread_self())
                } then: { outcome in
                    guard case .finished(let (square, thread)) = outcome else {
                        Issue.record("nobody cancelled it")
                        return
                    }
                    #expect(pthread_equal(pthread_self(), here) != 0)
                    #expect(pthread_equal(thread, here) == 0)
                    results[index] += square
                }
            }
        }
        #expect(results == (0..<300).map { $0 * $0 })
    }

    @Test("work that no thread has begun can be taken back, once; the rest goes its way")
    func cancel() throws {
        final class Gate: Sendable {
            let isOpen = Atomic<Bool>(false)
            let begun = Atomic<Int>(0)
        }
        let gate = Gate()
        var finished = 0
        var cancelled = 0
        var taken = 0
        try withTestLoop { loop in
            let works = (0..<64).map { _ in
                Work.start(on: loop) {
                    gate.begun.add(1, ordering: .relaxed)
                    while !gate.isOpen.load(ordering: .acquiring) { usleep(500) }
                } then: { outcome in
                    switch outcome {
                    case .finished: finished += 1
                    case .cancelled: cancelled += 1
                    }
                }
            }
            for work in works where work.cancel() {
                taken += 1
                #expect(!work.cancel(), "taken back once")
            }
            #expect(cancelled == 0, "never before cancel returns")
            gate.isOpen.store(true, ordering: .releasing)
            loop.run()
            for work in works { #expect(!work.cancel(), "ended") }
        }
        // Whatever the size of the pool, it is smaller than 64 and the gate holds those that began.
        #expect(taken > 0)
        #expect(cancelled == taken)
        #expect(finished == 64 - taken)
        #expect(gate.begun.load(ordering: .relaxed) == finished)
    }

    @Test("leaving the scope waits for the work under way")
    func scopeWaits() throws {
        var result = 0
        try Loop.withLoop { loop in
            Work.start(on: loop) {
                usleep(5_000)
                return 7
            } then: { outcome in
                if case .finished(let value) = outcome { result = value }
            }
        }
        #expect(result == 7)
    }

    @Test("a completion that starts more work is followed to the end")
    func chain() throws {
        var steps = 0
        try withTestLoop { loop in
            func step() {
                Work.start(on: loop) {
                    1
                } then: { outcome in
                    if case .finished(let one) = outcome { steps += one }
                    if steps < 50 { step() }
                }
            }
            step()
        }
        #expect(steps == 50)
    }
}

@Suite struct SignalTests {
    @Test("a signal to the process arrives on the loop with its number")
    func delivery() throws {
        var received: [CInt] = []
        try withTestLoop { loop in
            let watcher = try SignalWatcher(loop: loop)
            watcher.onSignal = {
                received.append($0)
                watcher.close()
            }
            try watcher.start(SIGUSR1)
            kill(getpid(), SIGUSR1)
        }
        #expect(received == [SIGUSR1])
    }

    @Test("a watcher moves to another signal, and one that cannot be caught is refused")
    func moving() throws {
        var received: [CInt] = []
        try withTestLoop { loop in
            let watcher = try SignalWatcher(loop: loop)
            watcher.onSignal = {
                received.append($0)
                watcher.close()
            }
            #expect(throws: UVError(code: .invalidArgument, operation: "uv_signal_start")) {
                try watcher.start(SIGKILL)
            }
            try watcher.start(SIGWINCH)
            try watcher.start(SIGUSR2)
            kill(getpid(), SIGWINCH)
            kill(getpid(), SIGUSR2)
            loop.run()
            #expect(throws: UVError(code: .canceled, operation: "uv_signal_start")) {
                try watcher.start(SIGUSR2)
            }
        }
        #expect(received == [SIGUSR2])
    }
}
