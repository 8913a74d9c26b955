// A live poll: everybody votes at once, and no vote is lost.
//
//     swift run LivePoll vote tea     one vote more for tea
//     swift run LivePoll show         the bars, again at each vote, until the poll is closed
//     swift run LivePoll close        nobody votes any more
//
// Votes are increments: two at the same time make two. One program declares the poll, the others
// find it there.

import PickerSync

struct LivePoll: SharedForm {
    @Shared var coffee = 0
    @Shared var tea = 0
    @Shared var water = 0
    @Shared var open = true

    var choices: [(name: String, votes: Binding<Int>)] {
        [("coffee", $coffee), ("tea", $tea), ("water", $water)]
    }

    var body: some View {
        Form("What shall we drink?") {
            Section("Votes") {
                Stepper("Coffee", value: $coffee, in: 0...10_000)
                Stepper("Tea", value: $tea, in: 0...10_000)
                Stepper("Water", value: $water, in: 0...10_000)
            }
            .enabled(when: $open == true)
            Toggle("Open", isOn: $open).onConflict(.falseWins)
        }
    }
}

@main
enum Program {
    static func main() throws {
        let words = Array(CommandLine.arguments.dropFirst())
        let poll = LivePoll()
        let client = BlockingFormClient(ConnectionOptions(client: "LivePoll"))
        let session = try client.open(poll, applying: .ifMissing)
        switch words.first {
        case "vote":
            guard let choice = poll.choices.first(where: { $0.name == words.last }) else {
                return print("vote for one of: coffee, tea, water")
            }
            choice.votes.increment()
            do {
                try client.flush()
                print("\(choice.name): \(choice.votes.wrappedValue)")
            } catch {
                guard case .refused(let refusal) = error, refusal.kind == .disabled else {
                    throw error
                }
                print("the poll is closed")
            }
        case "close":
            poll.open = false
            try client.flush()
            print("closed")
        default:
            let changes = client.changes(of: session)
            show(poll)
            while poll.open, try changes.next() != nil { show(poll) }
            print("closed")
        }
    }

    private static func show(_ poll: LivePoll) {
        let bars = poll.choices.map { choice in
            let votes = choice.votes.wrappedValue
            return "\(choice.name) \(String(repeating: "█", count: min(votes, 40)))\(votes)"
        }
        print(bars.joined(separator: "  "))
    }
}
