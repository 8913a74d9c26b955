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

@Test("500 steps of an engine's stories are as the model says")
func engineStories() throws {
    let census = tell(.engine, 1..<500 / UInt64(StoryKind.engine.steps) + 1)
    // `simulate stories` looks for all of them in more stories.
    let expected = StoryVocabulary.methodsOfOneDaemon
    #expect(expected.filter { census[$0] != nil }.count > expected.count / 2)
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
