/// A row in any language: an executable `Torture/Scripts/NN-name`.
///
/// Its environment has TORTURE_BIN (the folder of pickersyncd and pickerctl), TORTURE_FOLDER (a
/// folder for this row), TORTURE_SEED, TORTURE_SHARE (1 for the whole test, less for a part) and
/// TORTURE_TIMED (0 if times must not be checked). With `--about` it prints three lines, the
/// promise, the bar and the seconds of a whole run, and a fourth line `timed` if it measures time.
/// Without it, it prints the figure, the verdict (pass, part, skip or FAIL), and findings, one per
/// line.

import Glibc

/// A script.
struct ScriptRow: Row {
    let number: Int
    let promise: String
    let bar: String
    let seconds: Double
    let isTimed: Bool
    private let path: String
    /// Why it cannot run; `nil` if `--about` worked.
    private let defect: String?

    /// The script at a path; `nil` if its name has no number, because then it is not a row.
    ///
    /// A script whose `--about` fails becomes a row that fails, because nobody would notice a
    /// missing line.
    init?(_ path: String, scratch: String) {
        let name = path.split(separator: "/").last ?? ""
        guard let number = Int(name.prefix { $0.isNumber }) else { return nil }
        self.number = number
        self.path = path
        let about = try? Child.output(
            [path, "--about"], environment: Self.searchPath, scratch: scratch)
        let lines = (about?.text ?? "").split(separator: "\n").map(String.init)
        guard about?.status == 0, lines.count >= 3, let seconds = Double(lines[2]) else {
            promise = String(name)
            bar = "-"
            seconds = 1
            isTimed = false
            defect = "\(path) --about: \(lines.last ?? "nothing was said")"
            return
        }
        self.seconds = seconds
        isTimed = lines.dropFirst(3).first == "timed"
        promise = lines[0]
        bar = lines[1]
        defect = nil
    }

    private static var searchPath: [String: String] {
        ["PATH": getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"]
    }

    func run(_ run: Run) throws -> Outcome {
        if let defect { throw Trouble(defect) }
        let (status, text) = try Child.output(
            [path],
            environment: [
                "TORTURE_BIN": run.executables, "TORTURE_FOLDER": run.folder,
                "TORTURE_SEED": String(run.seed), "TORTURE_SHARE": String(run.share),
                "TORTURE_TIMED": run.isTimed ? "1" : "0",
                "TORTURE_SOURCES": run.sources,
                // Daemons of other users have no home folder; builds of a row keep their caches
                // here.
                "TORTURE_HOME": getenv("HOME").map { String(cString: $0) } ?? "/",
            ].merging(Self.searchPath) { $1 }, errors: run.folder + "/errors", scratch: run.folder)
        let lines = text.split(separator: "\n").map(String.init)
        guard lines.count >= 2, let verdict = Outcome.Verdict(rawValue: lines[1]) else {
            let errors = String(
                decoding: Folder.contents(run.folder + "/errors") ?? [], as: UTF8.self)
            throw Trouble(
                "\(path) ended with \(status) and said: \(text.prefix(400))\(errors.prefix(1_000))")
        }
        if verdict == .skip { return Outcome(skipped: lines[0]) }
        var findings = Array(lines.dropFirst(2))
        if verdict == .fail, findings.isEmpty { findings = ["\(path) says so"] }
        return Outcome(lines[0], isWhole: verdict == .pass, findings: findings)
    }

    /// All scripts of a folder, in order.
    static func all(in folder: String) -> [ScriptRow] {
        var template = Array("/tmp/torture-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return [] }
        let scratch = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        defer { Folder.remove(scratch) }
        return Folder.names(folder).compactMap { ScriptRow("\(folder)/\($0)", scratch: scratch) }
    }
}
