// Finds the options of a list that match a few typed letters.
//
// As in fzf: the letters must be in order, but not adjacent; starts of words and adjacent letters
// score higher. Terms that are separated by spaces must all match. Lower case matches both cases,
// upper case only itself ("smart case"). Scores: fzf, src/algo/algo.go.

/// What was typed, ready to be compared.
public struct ListFilter: Hashable, Sendable {
    /// An option that matches.
    public struct Match: Hashable, Sendable {
        /// Its index in the list.
        public var index: Int
        /// How well; only the order means something.
        public var score: Int
        /// The clusters of its text that matched, ascending.
        public var positions: [Int]

        /// A match of an option.
        public init(index: Int, score: Int, positions: [Int]) {
            self.index = index
            self.score = score
            self.positions = positions
        }
    }

    private let terms: [[String]]
    private let isCaseSensitive: Bool

    /// A filter for what was typed.
    public init(_ text: String) {
        let isSensitive = text.contains { $0.isUppercase }
        isCaseSensitive = isSensitive
        terms = text.split(separator: " ").map { $0.map { Self.folded($0, isSensitive) } }
    }

    private static func folded(_ cluster: Character, _ isSensitive: Bool) -> String {
        isSensitive ? String(cluster) : cluster.lowercased()
    }

    /// The texts that match, best first; all of them in their order where nothing was typed.
    public func matches(in texts: [String]) -> [Match] {
        var found: [Match] = []
        for (index, text) in texts.enumerated() {
            if let match = match(text) {
                found.append(Match(index: index, score: match.score, positions: match.positions))
            }
        }
        if terms.isEmpty { return found }
        return found.enumerated().sorted { left, right in
            left.element.score != right.element.score
                ? left.element.score > right.element.score : left.offset < right.offset
        }.map(\.element)
    }

    /// How well a text matches, and where; `nil` if it does not.
    public func match(_ text: String) -> (score: Int, positions: [Int])? {
        let clusters = Array(text)
        let folded = clusters.map { Self.folded($0, isCaseSensitive) }
        var score = 0
        var positions: Set<Int> = []
        for term in terms {
            guard let match = Self.match(term, clusters, folded) else { return nil }
            score += match.score
            positions.formUnion(match.positions)
        }
        return (score, positions.sorted())
    }

    private static let matchScore = 16
    private static let gapStart = -3
    private static let gapMore = -1
    private static let runBonus = 8

    /// The bonus for a match at this position: at the start of a word, or after punctuation.
    private static func bonus(_ clusters: [Character], at index: Int) -> Int {
        if index == 0 { return 12 }
        let (before, here) = (clusters[index - 1], clusters[index])
        if before.isWhitespace { return 10 }
        if !before.isLetter, !before.isNumber { return 9 }
        if before.isLowercase, here.isUppercase { return 7 }
        return !before.isNumber && here.isNumber ? 7 : 0
    }

    /// The best way to find a term: dynamic programming over the term's clusters (rows) and the
    /// text's (columns); `best[i][j]` ends with the i-th cluster at the j-th place.
    private static func match(
        _ term: [String], _ clusters: [Character], _ folded: [String]
    ) -> (score: Int, positions: [Int])? {
        guard !term.isEmpty else { return (0, []) }
        guard term.count <= folded.count else { return nil }
        let width = folded.count
        var scores = [[Int?]](repeating: [Int?](repeating: nil, count: width), count: term.count)
        var cameFrom = [[Int]](repeating: [Int](repeating: -1, count: width), count: term.count)
        for row in term.indices {
            // The best end of the row before, left of the column, less what the gap costs.
            var carried: (score: Int, from: Int)?
            for column in 0..<width {
                if row > 0, column > 1, let score = scores[row - 1][column - 2] {
                    let opened = score + gapStart
                    if carried.map({ opened >= $0.score }) ?? true {
                        carried = (opened, column - 2)
                    }
                }
                if folded[column] == term[row] {
                    let here = matchScore + bonus(clusters, at: column)
                    if row == 0 {
                        scores[row][column] = here
                    } else {
                        if let carried {
                            scores[row][column] = carried.score + here
                            cameFrom[row][column] = carried.from
                        }
                        if column > 0, let score = scores[row - 1][column - 1] {
                            let run = score + here + runBonus
                            if run >= scores[row][column] ?? Int.min {
                                scores[row][column] = run
                                cameFrom[row][column] = column - 1
                            }
                        }
                    }
                }
                if let gap = carried { carried = (gap.score + gapMore, gap.from) }
            }
        }
        var last: Int?
        for column in 0..<width {
            guard let score = scores[term.count - 1][column] else { continue }
            if last.map({ score > scores[term.count - 1][$0] ?? Int.min }) ?? true { last = column }
        }
        guard let end = last, let score = scores[term.count - 1][end] else { return nil }
        var positions = [end]
        for row in term.indices.dropFirst().reversed() {
            positions.append(cameFrom[row][positions[positions.count - 1]])
        }
        return (score, positions.reversed())
    }
}
