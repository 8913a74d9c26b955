import Foundation
import PickerSync
import TestKit
import Testing

// The four examples, run as people run them, against a daemon.

@Suite("The examples", .serialized)
struct ExampleTests {
    @Test("the ice-cream order tells each pick and ends with the order")
    func iceCreamOrder() throws {
        let daemon = try Daemon()
        let program = try daemon.launch("IceCreamOrder")
        #expect(program.read(until: "open:").contains("open: Chocolate with Nuts, 2 scoops"))
        try daemon.pickerctl("set", "flavor=vanilla")
        try daemon.pickerctl("set", "suggestedWith=blueberries")
        try daemon.pickerctl("set", "scoops+=1")
        try daemon.pickerctl("toggle", "cone")
        try daemon.pickerctl("press", "orders")
        let outcome = program.outcome()
        #expect(outcome.status == 0)
        let user = NSUserName()
        #expect(
            outcome.out == """
                open: Chocolate with Nuts, 2 scoops
                \(user) picked Vanilla
                \(user) wants Blueberries on it
                3 scoops
                ordered: 3 scoops of Vanilla with Blueberries in a cup

                """)
    }

    @Test("the income form asks its data source, tells its delegate, and reloads the tax")
    func incomeForm() throws {
        let daemon = try Daemon()
        let program = try daemon.launch("IncomeForm")
        #expect(program.read(until: "types\n") == "open: 3 types\n")
        #expect(try daemon.pickerctl("get", "source") == #"{"name":"Salary","tax":"Fixed"}"# + "\n")
        try daemon.pickerctl("set", #"type={"type":"Passive"}"#)
        program.read(until: "Passive.\n")
        try daemon.pickerctl("set", #"source={"name":"Capital Gains"}"#)
        program.read(until: "2 rows of taxes\n")
        try daemon.pickerctl("set", #"source={"tax":"Variable"}"#)
        program.read(until: "Variable taxes.\n")
        try daemon.pickerctl("set", "received=2026-12-24")
        program.read(until: "24.\n")
        try daemon.pickerctl("press", "saves")
        let outcome = program.outcome()
        #expect(outcome.status == 0)
        #expect(
            outcome.out == """
                open: 3 types
                Income type is Passive.
                Income source is Capital Gains.
                2 rows of taxes
                Variable taxes.
                Received on 2026-12-24.
                saved

                """)
    }

    @Test("the service follows its settings over a restart of the daemon, and stops when told")
    func followingService() throws {
        let daemon = try Daemon()
        let program = try daemon.launch("FollowingService")
        program.read(until: "workers")
        program.read(until: "logging")
        try daemon.pickerctl("set", "workers=32")
        program.read(until: "32 workers")
        try daemon.stop()
        try daemon.start()
        try daemon.pickerctl("set", "log-level=debug")
        program.read(until: "debug on")
        #expect(try daemon.pickerctl("get", "load") == "0.5\n")
        try daemon.pickerctl("set", "running=false")
        let outcome = program.outcome()
        #expect(outcome.status == 0)
        #expect(
            outcome.out.split(separator: "\n").sorted() == [
                "32 workers", "4 workers", "logging from debug on", "logging from info on",
                "stopped",
            ], "\(outcome.out)")
    }

    @Test("the live poll loses no vote of many at once, and takes none when it is closed")
    func livePoll() throws {
        let daemon = try Daemon()
        let show = try daemon.launch("LivePoll", "show")
        #expect(show.read(until: "\n") == "coffee 0  tea 0  water 0\n")
        let voters = try (0..<8).map { number in
            try daemon.launch("LivePoll", "vote", number % 2 == 0 ? "tea" : "coffee")
        }
        for voter in voters { #expect(voter.outcome().status == 0) }
        #expect(
            show.read(until: "coffee ████4  tea ████4").contains("coffee ████4  tea ████4  water 0")
        )
        #expect(try daemon.launch("LivePoll", "close").outcome().out == "closed\n")
        #expect(show.outcome().out.hasSuffix("closed\n"))
        #expect(
            try daemon.launch("LivePoll", "vote", "tea").outcome().out == "the poll is closed\n")
        #expect(
            try daemon.launch("LivePoll", "vote", "milk").outcome().out
                == "vote for one of: coffee, tea, water\n")
    }
}
