import PickerClient
import Testing

/// A machine as the rules see it.
private func probe(
    _ variables: [String: String] = [:], files: [String: FileFacts.Kind] = [:],
    answering: Set<String> = [], ofOthers: Set<String> = []
) -> SocketProbe {
    SocketProbe(
        uid: 1000, variable: { variables[$0] },
        facts: { path in
            files[path].map { FileFacts(kind: $0, owner: 1000, group: 1000, mode: 0o600) }
        },
        answers: { answering.contains($0) },
        problem: { folder, _ in
            ofOthers.contains(folder) ? UnsafeFolder(path: folder, reason: .owner(1001)) : nil
        })
}

private let home = ["HOME": "/home/ann", "XDG_RUNTIME_DIR": "/run/user/1000"]
private let own = "/run/user/1000/pickersync/sock"
private let store = "/home/ann/.local/state/pickersync/pickersync.db"
private let system = "/run/pickersync/sock"

@Suite("PROTOCOL.md, Where the daemon is")
struct SocketResolutionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var option: String?
        var variables = home
        var files: [String: FileFacts.Kind] = [:]
        var answering: Set<String> = []
        var ofOthers: Set<String> = []
        var path: String
        var rule: SocketResolution.Rule
        var mayStart: Bool
    }

    static let cases = [
        Case(
            testDescription: "the option first", option: "/x",
            variables: home.merging(["PICKERSYNC_SOCKET": "/y"]) { $1 }, answering: [own],
            path: "/x", rule: .option, mayStart: false),
        Case(
            testDescription: "then the environment",
            variables: home.merging(["PICKERSYNC_SOCKET": "/y"]) { $1 }, answering: [own],
            path: "/y", rule: .environment, mayStart: false),
        Case(
            testDescription: "then the user's own where a daemon answers",
            files: [system: .socket], answering: [own], path: own, rule: .userDaemonAnswers,
            mayStart: true),
        Case(
            testDescription: "or where the user has a store",
            files: [system: .socket, store: .regular], path: own, rule: .userHasStore,
            mayStart: true),
        Case(
            testDescription: "then the system's where it exists", files: [system: .socket],
            answering: [system], path: system, rule: .system, mayStart: false),
        Case(
            testDescription: "else the user's own, to be started", path: own,
            rule: .userDaemonStarts, mayStart: true),
        Case(
            testDescription: "the user's own by name may be started too", option: own, path: own,
            rule: .option, mayStart: true),
        Case(
            testDescription: "without XDG_RUNTIME_DIR, /run/user where it exists",
            variables: ["HOME": "/home/ann"], files: ["/run/user/1000": .directory], path: own,
            rule: .userDaemonStarts, mayStart: true),
        Case(
            testDescription: "without either, a private folder in /tmp",
            variables: ["HOME": "/home/ann"], path: "/tmp/pickersync-1000/sock",
            rule: .userDaemonStarts, mayStart: true),
        Case(
            testDescription: "the system's comes before /tmp, even where a daemon answers there",
            variables: ["HOME": "/home/ann"], files: [system: .socket, store: .regular],
            answering: ["/tmp/pickersync-1000/sock"], path: system, rule: .system,
            mayStart: false),
        Case(
            testDescription: "a daemon that was started in /tmp is found again",
            variables: ["HOME": "/home/ann"], answering: ["/tmp/pickersync-1000/sock"],
            path: "/tmp/pickersync-1000/sock", rule: .userDaemonAnswers, mayStart: true),
        Case(
            testDescription: "a runtime directory of another user is not used",
            files: [system: .socket], answering: [own], ofOthers: ["/run/user/1000"],
            path: system, rule: .system, mayStart: false),
        Case(
            testDescription: "the usual one is used where the variable names another user's",
            variables: home.merging(["XDG_RUNTIME_DIR": "/run/user/1001"]) { $1 },
            files: ["/run/user/1000": .directory], ofOthers: ["/run/user/1001"], path: own,
            rule: .userDaemonStarts, mayStart: true),
        Case(
            testDescription: "a folder of another user in one's own hides no socket behind it",
            files: [system: .socket], answering: [own],
            ofOthers: ["/run/user/1000/pickersync"], path: own, rule: .userDaemonStarts,
            mayStart: true),
        Case(
            testDescription: "a relative XDG_RUNTIME_DIR is ignored, as its specification says",
            variables: ["HOME": "/home/ann", "XDG_RUNTIME_DIR": "run"],
            path: "/tmp/pickersync-1000/sock", rule: .userDaemonStarts, mayStart: true),
        Case(
            testDescription: "XDG_STATE_HOME moves the store",
            variables: home.merging(["XDG_STATE_HOME": "/state"]) { $1 },
            files: [system: .socket, "/state/pickersync/pickersync.db": .regular], path: own,
            rule: .userHasStore, mayStart: true),
    ]

    @Test("the rules are taken in their order", arguments: cases)
    func rules(_ story: Case) {
        let resolution = SocketResolution(
            option: story.option,
            probe: probe(
                story.variables, files: story.files, answering: story.answering,
                ofOthers: story.ofOthers))
        #expect(resolution.path == story.path)
        #expect(resolution.rule == story.rule)
        #expect(resolution.mayStart == story.mayStart)
        #expect(resolution.steps.last?.contains("used") == true, "doctor tells which rule chose")
    }
}
