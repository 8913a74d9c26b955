// Random stories, a short search: `make simulate STORIES=1000000` is the long one.

import Foundation
import Stories
import SyncCore
import TestKit
import Testing

/// Where the programs that the tests are built with are.
private let executables: String = {
    var folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    while folder.path != "/" {
        let daemon = folder.appending(path: "pickersyncd").path
        if FileManager.default.isExecutableFile(atPath: daemon) { return folder.path }
        folder.deleteLastPathComponent()
    }
    return ""
}()

/// Tells the stories of some seeds; how often each method and command came.
private func tell(_ kind: StoryKind, _ seeds: Range<UInt64>) -> [String: Int] {
    var census: [String: Int] = [:]
    for seed in seeds {
        let (_, counts, failure) = kind.search(seed: seed)
        census.merge(counts, uniquingKeysWith: +)
        if let failure {
            Issue.record("\(failure)")
            break
        }
    }
    return census
}

@Test("2,000 steps of an engine's stories are as the model says, each method among them")
func engineStories() throws {
    let stories = 2_000 / UInt64(StoryKind.engine.steps)
    var census = tell(.engine, 1..<stories + 1)
    func missing() -> [String] {
        StoryVocabulary.methodsOfOneDaemon.filter { census[$0] == nil }.sorted()
    }
    // Few stories redo, approve, or have a run whose handler tells progress before it ends: these,
    // as long as the generator stays as it is.
    for seed in [24, 26, 33] + Array(stories + 1...4 * stories) where !missing().isEmpty {
        census.merge(tell(.engine, seed..<seed + 1), uniquingKeysWith: +)
    }
    #expect(missing() == [])
}

@Test("commands leave what the model says, and say so")
func commandStories() throws {
    _ = tell(.daemon(executables: executables), 1..<3)
}

@Test("the stories know every method of the protocol")
func methods() throws {
    let known = Set(Method.allCases.map(\.rawValue))
    #expect(StoryVocabulary.methods == known)
    #expect(StoryVocabulary.modelled == known)
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/protocol.openrpc.json")
    let description = try JSON(parsing: Array(Data(contentsOf: page)))
    let described = description["methods"]?.arrayValue?.compactMap { $0["name"]?.stringValue }
    #expect(Set(described ?? []) == known)
}

@Test("the stories know every command of pickerctl")
func commands() throws {
    let help = try ChildProcess.run([executables + "/pickerctl", "--experimental-dump-help"]).out
    let top = try #require(try JSON(parsing: Array(help.utf8))["command"])
    #expect(StoryVocabulary.commands == Set(leaves(of: top).map { $0.joined(separator: " ") }))
}

/// The commands that do something, by their words.
private func leaves(of command: JSON) -> [[String]] {
    (command["subcommands"]?.arrayValue ?? []).flatMap { one -> [[String]] in
        guard let name = one["commandName"]?.stringValue else { return [] }
        let below = leaves(of: one)
        return below.isEmpty ? [[name]] : below.map { [name] + $0 }
    }
}
