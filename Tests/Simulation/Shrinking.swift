// Makes a failing run short.
//
// Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 2002: leaves
// out pieces, larger ones first, as long as the run still fails.

/// The fewest of `steps` found that still fail.
///
/// - Parameters:
///   - runsMax: The number of tries.
///   - fails: Runs some of the steps. Returns whether the run fails.
package func shrunken<Step>(_ steps: [Step], runsMax: Int, fails: ([Step]) -> Bool) -> [Step] {
    var best = steps
    var runs = 0
    var size = max(1, best.count / 2)
    while runs < runsMax {
        var start = 0
        var hasShrunk = false
        while start < best.count, runs < runsMax {
            var fewer = best
            fewer.removeSubrange(start..<min(start + size, fewer.count))
            runs += 1
            if fails(fewer) {
                best = fewer
                hasShrunk = true
            } else {
                start += size
            }
        }
        if size == 1, !hasShrunk { break }
        size = max(1, size / 2)
    }
    return best
}
