import Foundation
import TestKit
import Testing

/// The machines of the engine, each a file or a folder of Sources/SyncCore/Engine (ARCHITECTURE.md,
/// The engine).
private let machines = [
    "Admission", "Deadlines", "FormRegistry", "Scheduler", "StoreLink", "Effects",
]

private let folder = sourceTree.appending(path: "Sources/SyncCore/Engine")

/// The files of a machine; its own comes first.
private func files(of machine: String) throws -> [URL] {
    let single = folder.appending(path: "\(machine).swift")
    if FileManager.default.fileExists(atPath: single.path) { return [single] }
    let parts = try FileManager.default.contentsOfDirectory(
        at: folder.appending(path: machine), includingPropertiesForKeys: nil)
    return parts.filter { $0.pathExtension == "swift" }
        .sorted { left, _ in left.lastPathComponent == "\(machine).swift" }
}

/// The lines of a file that are not comments.
private func code(_ file: URL) throws -> [Substring] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        .filter { !$0.drop { $0 == " " }.hasPrefix("//") }
}

@Test("a machine of the engine names neither its siblings nor the engine", arguments: machines)
func machinesAreAlone(machine: String) throws {
    let others = machines.filter { $0 != machine } + ["Engine"]
    for file in try files(of: machine) {
        for line in try code(file) {
            for word in line.split(whereSeparator: { !$0.isLetter && !$0.isNumber }) {
                #expect(
                    !others.contains(String(word)),
                    "\(machine)/\(file.lastPathComponent) names \(word): \(line)")
            }
        }
    }
}

@Test("each machine of the engine begins with its states", arguments: machines)
func machinesHaveDiagrams(machine: String) throws {
    let file = try #require(try files(of: machine).first)
    let text = try String(contentsOf: file, encoding: .utf8)
    let head = text.prefix { $0 != "{" }
    let isFirst = ["struct", "final class"].contains { head.hasSuffix("\n\($0) \(machine) ") }
    #expect(isFirst, "\(machine) is not the first type of its file")
    #expect(head.contains("─▶"), "\(machine) has no diagram of its states")
}

@Test("the engine has at most 15 stored properties")
func engineIsSmall() throws {
    let lines = try code(folder.appending(path: "Engine.swift"))
    let begin = try #require(lines.firstIndex { $0.hasPrefix("public final class Engine ") })
    let end = try #require(lines[begin...].firstIndex { $0 == "}" })
    let stored = (begin..<end).filter { place in
        // Members of the class itself, not of types in it.
        guard lines[place].prefixMatch(of: #/ {4}(?:[a-z]+(?:\(set\))? )*(?:let|var) \w+/#) != nil
        else { return false }
        guard lines[place].hasSuffix("}") || lines[place].hasSuffix("{") else { return true }
        return lines[place].contains(" = ") || lines[place + 1].contains(/\b(did|will)Set\b/)
    }
    #expect((5...15).contains(stored.count), "\(stored.map { lines[$0] })")
}
