// Commands. Exit status and output must be what the model says.

import SyncCore
import TortureKit

extension StoryWorld {
    /// One command, as the daemon's own user or as another user.
    func command() throws {
        guard let daemon = driver as? DaemonDriver else { return }
        var maker = CommandMaker(random: random, model: model, folder: daemon.folder)
        let command = maker.command()
        random = maker.random
        var user = users[0]
        if let stranger = daemon.stranger, random.chance(15), command.mayBeAnybodys {
            user = stranger
        }
        tell("\(user.name)$ \(command)")
        let (status, output, errors) = try daemon.run(command, as: user)
        // The connection of the command, which ends with the command.
        let connection = -1
        var after = model
        after.trail = []
        after.peers[connection] = StoryPeer(
            user: user, connection: connection, isAnonymous: true)
        let expected = command.meaning(&after, connection)
        after.disconnect(connection)
        guard expected.status == -1 || status == expected.status else {
            throw StoryDifference(
                "\(command)\n  exited \(status) and not \(expected.status): \(errors)\(output)")
        }
        if let wanted = expected.output, wanted != output {
            throw StoryDifference("\(command)\n  printed \(output)\n  and not \(wanted)")
        }
        if let wanted = expected.json, !Self.matches(output, wanted) {
            throw StoryDifference("\(command)\n  printed \(output)\n  and not \(wanted)")
        }
        for (name, wanted) in expected.members ?? [:] {
            let printed = (try? JSON(parsing: output))?[name]
            guard let printed, Self.matches(printed.encodedText, wanted) else {
                throw StoryDifference(
                    "\(command)\n  printed \(output)\n  and not \(name): \(wanted)")
            }
        }
        if let wanted = expected.merged, !Self.isMerged(output, wanted.lists, wanted.most) {
            throw StoryDifference("\(command)\n  printed \(output)\n  and not of \(wanted)")
        }
        if let wanted = expected.lines, output.split(separator: "\n").count != wanted {
            throw StoryDifference("\(command)\n  printed \(output)\n  and not \(wanted) lines")
        }
        let states = after.trail ?? []
        after.trail = nil
        model = after
        remember(states)
        count(command.name)
        count("\(command.name): \(status)")
        // Subscribers are notified of its edits.
        try ask([])
    }
}

extension StoryWorld {
    /// Whether a command printed this JSON, except for times and numbers of connections.
    private static func matches(_ output: String, _ wanted: JSON) -> Bool {
        guard let json = try? JSON(parsing: output) else { return false }
        return json == wanted || StoryWire.normal(json, isAnonymous: true) == wanted
    }

    /// Whether a command printed the first of these, each list in its order.
    private static func isMerged(_ output: String, _ lists: [[JSON]], _ most: Int) -> Bool {
        var left = lists.map { $0[...] }
        let lines = output.split(separator: "\n").map(String.init)
        guard lines.count == min(most, lists.reduce(0) { $0 + $1.count }) else { return false }
        return lines.allSatisfy { line in
            let place = left.firstIndex { $0.first.map { matches(line, $0) } ?? false }
            if let place { left[place].removeFirst() }
            return place != nil
        }
    }
}

extension StoryCommand {
    /// Whether any user may run it here. Some write files, which only the daemon's user may.
    fileprivate var mayBeAnybodys: Bool {
        !["backup", "form new", "doctor", "status"].contains(name)
    }
}
