/// The program `simulate`, which several rows run.
enum LongSearch {
    /// Runs searches one after the other. The figure is the last line of each.
    ///
    /// - Parameter searches: the arguments of each call.
    static func outcome(
        of searches: [[String]], _ run: Run, environment: [String: String] = [:]
    ) throws -> Outcome {
        var findings: [String] = []
        var figures: [String] = []
        for search in searches {
            run.say(search.joined(separator: " "))
            let (status, text) = try Child.output(
                ["\(run.executables)/simulate"] + search, environment: environment,
                scratch: run.folder)
            let lines = text.split(separator: "\n").map(String.init)
            guard let last = lines.last else { throw Trouble("simulate said nothing") }
            figures.append(last)
            if status != 0 { findings += lines.suffix(80) }
        }
        return Outcome(figures.joined(separator: "; "), isWhole: run.isWhole, findings: findings)
    }

    /// The number of runs of a search. A debug build takes twenty times as long.
    static func scaled(_ count: Int) -> Int {
        #if DEBUG
            return max(1, count / 20)
        #else
            return count
        #endif
    }
}
