import Testing

@testable import EventLoop

@Suite struct LoopTests {
    @Test("the loaded library's structs are as large as the ones compiled against")
    func layouts() {
        for layout in HandleLayout.all {
            #expect(layout.libraryBytes == layout.importedBytes, "\(layout.name)")
        }
    }

    @Test("a loop with nothing to do returns, and its hook has run once")
    func emptyLoop() throws {
        try withTestLoop { loop in
            var calls = 0
            loop.onIterationEnd = { calls += 1 }
            loop.run()
            #expect(calls == 1)
            loop.onIterationEnd = nil
        }
    }

    @Test("the hook runs once an iteration and never makes the loop turn")
    func hookDoesNotSpin() throws {
        try withTestLoop { loop in
            var calls = 0
            loop.onIterationEnd = { calls += 1 }
            let timer = Timer(loop: loop)
            timer.onFire = { timer.close() }
            timer.start(after: .milliseconds(60))
            loop.run()
            // Before the wait, after a wake that came a little early, before the close, at the end.
            #expect((2...6).contains(calls), "\(calls) iterations for one timer")
            loop.onIterationEnd = nil
        }
    }

    @Test("the hook sees what the callbacks before it did, before the loop waits")
    func hookComesBeforeWaiting() throws {
        try withTestLoop { loop in
            var events: [String] = []
            var dirty = false
            let first = Timer(loop: loop)
            let second = Timer(loop: loop)
            loop.onIterationEnd = {
                if dirty { events.append("flush") }
                dirty = false
            }
            first.onFire = {
                events.append("first")
                dirty = true
                first.close()
            }
            second.onFire = {
                events.append("second")
                dirty = true
                second.close()
            }
            first.start(after: .milliseconds(1))
            second.start(after: .milliseconds(30))
            loop.run()
            #expect(events == ["first", "flush", "second", "flush"])
            loop.onIterationEnd = nil
        }
    }

    @Test("what the callbacks of the last iteration left is flushed although the loop was stopped")
    func hookAfterStop() throws {
        try withTestLoop { loop in
            var dirty = false
            var flushed = false
            loop.onIterationEnd = { if dirty { flushed = true } }
            let timer = Timer(loop: loop)
            timer.onFire = {
                dirty = true
                loop.stop()
            }
            timer.start(after: .zero, repeating: .milliseconds(1))
            loop.run()
            #expect(flushed)
            timer.close()
        }
    }

    @Test("a handle that the last call of the hook started still runs")
    func hookStartsMore() throws {
        try withTestLoop { loop in
            var fired = false
            var started = false
            loop.onIterationEnd = {
                guard !started else { return }
                started = true
                let timer = Timer(loop: loop)
                timer.onFire = {
                    fired = true
                    timer.close()
                }
                timer.start(after: .zero)
            }
            loop.run()
            #expect(fired)
            loop.onIterationEnd = nil
        }
    }

    @Test("a stop before the run ends that run and no later one")
    func stopBeforeRun() throws {
        try withTestLoop { loop in
            var fired = 0
            let timer = Timer(loop: loop)
            timer.onFire = {
                fired += 1
                timer.close()
            }
            timer.start(after: .zero)
            loop.stop()
            loop.run()
            #expect(fired == 0)
            loop.run()
            #expect(fired == 1)
        }
    }

    @Test("leaving the scope closes what is open, also what close callbacks open")
    func scopeClosesHandles() throws {
        var closed: [String] = []
        try Loop.withLoop { loop in
            let (left, right) = try pipePair(loop)
            try left.readStart()
            let timer = Timer(loop: loop)
            timer.start(after: .seconds(1_000), repeating: .seconds(1_000))
            #expect(loop.openHandleCount == 3)
            right.close {
                closed.append("right")
                let late = Timer(loop: loop)
                late.start(after: .seconds(1_000))
            }
            #expect(loop.openHandleCount == 2)
        }
        #expect(closed == ["right"])
    }

    @Test("an error in the scope comes out, and the handles are closed all the same")
    func scopeThrows() {
        weak var leaked: Timer?
        #expect(throws: SetupFailed.self) {
            try Loop.withLoop { loop in
                let timer = Timer(loop: loop)
                timer.start(after: .seconds(1_000))
                leaked = timer
                throw SetupFailed(reason: "on purpose")
            }
        }
        #expect(leaked == nil)
    }

    @Test("the clocks go forward")
    func clocks() {
        let start = Loop.hrtimeNanoseconds
        while Loop.hrtimeNanoseconds < start + 3_000_000 {}
        #expect(Loop.wallMilliseconds > 1_600_000_000_000)
    }
}

@Suite struct HandleTests {
    @Test("a handle nobody holds stays alive until it is closed, and then goes")
    func lifeTime() throws {
        weak var handle: Timer?
        try withTestLoop { loop in
            var fired = false
            do {
                let timer = Timer(loop: loop)
                timer.onFire = { fired = true }
                timer.start(after: .milliseconds(1))
                handle = timer
            }
            #expect(handle != nil)
            loop.run()
            #expect(fired)
            #expect(handle != nil, "libuv still knows it")
            handle?.close()
            #expect(handle != nil, "the close callback has not come")
            loop.run()
            #expect(handle == nil)
        }
    }

    @Test("close may be called again at any time; each completion comes once, in order")
    func closeIsIdempotent() throws {
        try withTestLoop { loop in
            var order: [Int] = []
            let timer = Timer(loop: loop)
            timer.close { order.append(1) }
            timer.close { order.append(2) }
            timer.close()
            #expect(order.isEmpty, "never before close returns")
            #expect(timer.isClosing)
            loop.run()
            #expect(order == [1, 2])
            timer.close { order.append(3) }
            #expect(order == [1, 2, 3])
        }
    }

    @Test("a closure that holds its own handle is dropped by the close")
    func cyclesBreak() throws {
        weak var handle: Timer?
        try withTestLoop { loop in
            let timer = Timer(loop: loop)
            timer.onFire = { timer.stop() }
            handle = timer
            timer.close()
        }
        #expect(handle == nil)
    }

    @Test("a handle that does not keep the loop alive lets it return")
    func unreferenced() throws {
        try withTestLoop { loop in
            let timer = Timer(loop: loop)
            timer.start(after: .seconds(1_000))
            #expect(timer.keepsLoopAlive)
            timer.keepsLoopAlive = false
            loop.run()
            timer.keepsLoopAlive = true
            #expect(loop.isAlive)
            timer.close()
        }
    }
}

@Suite struct TimerTests {
    @Test("a timer for one call fires once; a repeating one until it is stopped")
    func firing() throws {
        try withTestLoop { loop in
            var single = 0
            var repeated = 0
            let one = Timer(loop: loop) { single += 1 }
            let many = Timer(loop: loop)
            many.onFire = {
                repeated += 1
                if repeated == 3 { many.stop() }
            }
            one.start(after: .milliseconds(1))
            many.start(after: .zero, repeating: .milliseconds(1))
            #expect(one.isRunning)
            loop.run()
            #expect(single == 1)
            #expect(repeated == 3)
            #expect(!one.isRunning && !many.isRunning)
            one.close()
            many.close()
            one.start(after: .zero)
            #expect(!one.isRunning, "a closing timer stays silent")
        }
    }

    @Test(
        "a duration becomes whole milliseconds, never fewer than it is",
        arguments: [
            (.zero, 0), (.seconds(-3), 0), (.nanoseconds(-1), 0),
            (.nanoseconds(1), 1), (.microseconds(999), 1), (.milliseconds(1), 1),
            (.microseconds(1_001), 2), (.milliseconds(1_999), 1_999), (.seconds(2), 2_000),
            (Duration(secondsComponent: 1, attosecondsComponent: 999_999_999_999_999_999), 2_000),
            (.seconds(Int64.max), .max),
        ] as [(Duration, UInt64)])
    func milliseconds(duration: Duration, expected: UInt64) {
        #expect(Timer.milliseconds(duration) == expected)
    }
}
