// The commonest commands without ArgumentParser: `get FIELD`, `set FIELD=VALUE`, `watch GLOB`.
//
// Parsing with ArgumentParser costs more than all the rest of a `get`. Only arguments without a
// single option come this way, and they go to the very functions that the full commands call.

/// Commands that need no parser.
enum FastPath {
    /// Runs the command if it is one of the plain ones; `false` leaves it to the parser.
    static func run(_ arguments: [String]) throws(Failure) -> Bool {
        guard let verb = arguments.first else { return false }
        let rest = Array(arguments.dropFirst())
        guard !rest.contains(where: { $0.hasPrefix("-") || $0.isEmpty }) else { return false }
        switch verb {
        case "get":
            try GetCommand.run(Session(Settings()), rest)
        case "set":
            guard !rest.isEmpty else { return false }
            try SetCommand.run(Session(Settings()), rest)
        case "watch":
            var options = WatchOptions()
            options.fields = rest
            try Watcher(Session(Settings()), options).run()
        default:
            return false
        }
        return true
    }
}
