import Foundation
import TestKit
import Testing

/// The modules, and which modules and system libraries each may import (ARCHITECTURE.md, Modules).
private let modules: [String: Set<String>] = [
    "SyncCore": [],
    "EventLoop": ["CUV", "Glibc", "Synchronization"],
    "FormFile": ["SyncCore", "CYAML", "CPCRE2", "Glibc"],
    "Store": ["SyncCore", "CSQLite", "CSodium", "Glibc", "Synchronization"],
    "PickerClient": ["SyncCore", "Glibc", "Musl", "Synchronization"],
    "PickerSync": ["SyncCore", "PickerClient", "TerminalUI", "Glibc", "Musl", "Synchronization"],
    "PickerSyncFoundation": ["PickerSync", "Foundation"],
    "PickerSyncTesting": [
        "PickerSync", "PickerClient", "SyncCore", "EngineTestKit", "Synchronization",
    ],
    "TerminalUI": ["SyncCore", "Synchronization"],
    "DaemonCore": [
        "SyncCore", "EventLoop", "FormFile", "Store", "CSystem", "CWipe", "Glibc",
        "Synchronization",
    ],
    "Link": [
        "SyncCore", "EventLoop", "FormFile", "PickerClient", "CNats", "Glibc", "Synchronization",
    ],
    "pickersync-link": ["Link", "SyncCore", "ArgumentParser", "Glibc"],
    "pickersyncd": ["DaemonCore", "SyncCore", "Glibc"],
    "pickerctl": [
        "SyncCore", "FormFile", "PickerClient", "TerminalUI", "ArgumentParser", "Glibc",
    ],
]

private func swiftFiles(below folder: URL) throws -> [URL] {
    let walker = try #require(
        FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    return walker.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        .sorted { $0.path < $1.path }
}

// Computed, since a `Regex` is not Sendable and so can be no global constant.
private var importLine: Regex<(Substring, Substring)> {
    /^\s*(?:@\w+\s+)*(?:(?:public|package|internal|private)\s+)?import\s+(?:(?:struct|enum|class|protocol)\s+)?(\w+)/
}

@Test("imports point down only", arguments: modules.keys.sorted())
func importsPointDown(importer: String) throws {
    let folder = sourceTree.appending(path: "Sources/\(importer)")
    let allowed = try #require(modules[importer])
    let files = try swiftFiles(below: folder)
    #expect(!files.isEmpty, "\(importer) has no source: is the list of modules out of date?")
    for file in files {
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            // Nearly no line, and the expression takes long for each.
            guard line.contains("import ") else { continue }
            guard let match = line.firstMatch(of: importLine) else { continue }
            let module = String(match.1)
            #expect(
                allowed.contains(module),
                "\(importer)/\(file.lastPathComponent) imports \(module); it may import \(allowed.sorted())"
            )
        }
    }
}

@Test(
    "the library has an alternative to each import of a C library",
    arguments: ["PickerClient", "PickerSync", "PickerSyncTesting", "TerminalUI", "SyncCore"])
func alternatives(importer: String) throws {
    for file in try swiftFiles(below: sourceTree.appending(path: "Sources/\(importer)")) {
        let bytes = try Data(contentsOf: file)
        // A search by characters is slow, and few files have such an import.
        guard bytes.range(of: Data("import Glibc".utf8)) != nil else { continue }
        let text = String(decoding: bytes, as: UTF8.self)
        let whole = text.ranges(
            of: /import Glibc\n#else\n +(@preconcurrency )?internal import Musl\n/)
        #expect(
            text.ranges(of: "import Glibc").count == whole.count,
            "\(importer)/\(file.lastPathComponent) imports Glibc alone")
    }
}

@Test("every folder of Sources is a module of the list or a C library")
func modulesAreKnown() throws {
    let folders = try FileManager.default.contentsOfDirectory(
        atPath: sourceTree.appending(path: "Sources").path)
    let clibraries: Set<String> = [
        "CUV", "CSQLite", "CYAML", "CPCRE2", "CSodium", "CSystem", "CWipe",
        "CNats",
    ]
    for folder in folders where !clibraries.contains(folder) {
        #expect(modules[folder] != nil, "Sources/\(folder) is not in the list of this test")
    }
}

/// Words that stand for something left undone or switched off; put together so that this file has
/// none of them. What an escape of JSON looks like is not meant.
private let bans: [(name: String, word: String)] = [
    ("a mark for later", "TO" + "DO"),
    ("a mark for later", "FIX" + "ME"),
    ("a mark for later", " XX" + "X"),
    ("a forced try", " try" + "! "),
    ("a crash with a sentence where a precondition belongs", " fatal" + "Error("),
    ("a GNU macro that changes glibc's types", "define _GNU" + "_SOURCE"),
]

@Test("nothing in Sources is left for later or forced, and every line has at most 100 columns")
func bannedWords() throws {
    let newline = Data("\n".utf8)
    for file in try swiftFiles(below: sourceTree.appending(path: "Sources")) {
        // Bytes: searching a string by its characters takes minutes in a debug build.
        let bytes = try Data(contentsOf: file)
        for ban in bans {
            let isThere = bytes.range(of: Data(ban.word.utf8)) != nil
            #expect(!isThere, "\(file.lastPathComponent): \(ban.name)")
        }
        var (start, number) = (bytes.startIndex, 1)
        while start < bytes.endIndex {
            let end = bytes.range(of: newline, in: start..<bytes.endIndex)?.lowerBound
            let line = bytes[start..<(end ?? bytes.endIndex)]
            if line.count > 100 {
                let text = String(decoding: line, as: UTF8.self)
                let fits = text.count <= 100 || text.contains("https://")
                #expect(fits, "\(file.lastPathComponent):\(number) is longer than 100 columns")
            }
            start += line.count + 1
            number += 1
        }
    }
}

@Test("each unchecked place says why it is safe")
func uncheckedPlacesSayWhy() throws {
    let marks = ["@unchecked" + " Sendable", "nonisolated" + "(unsafe)"]
    for file in try swiftFiles(below: sourceTree.appending(path: "Sources")) {
        let lines = try String(contentsOf: file, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated()
        where marks.contains(where: { line.contains($0) }) {
            if line.trimmingCharacters(in: .whitespaces).hasPrefix("//") { continue }
            let before = lines[max(0, number - 8)..<number]
            #expect(
                before.contains { $0.contains("//") } || line.contains("//"),
                "\(file.lastPathComponent):\(number + 1): an unchecked place without its because")
        }
    }
}
