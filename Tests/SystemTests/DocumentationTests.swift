import Foundation
import Testing

// What the pages show is what the programs do.

private let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

/// README and every page below `docs`, by their paths; clients have pages of their own.
private let pages: [String] = {
    var found = ["README.md"]
    for folder in ["docs", "clients"] {
        let walker = FileManager.default.enumerator(
            at: root.appending(path: folder), includingPropertiesForKeys: nil)
        for case let page as URL in walker ?? .init() where page.pathExtension == "md" {
            found.append(String(page.path.dropFirst(root.path.count + 1)))
        }
    }
    return found.sorted()
}()

@Suite("The documentation")
struct DocumentationTests {
    @Test("every example of a page prints what the page shows", arguments: pages)
    func examples(page: String) throws {
        let run = try said("scripts/doc-examples", ["--bin", builtExecutables, page])
        #expect(run.status == 0, "\(run.text)")
    }

    @Test("the pages that are generated are what the programs, the limits and the schema say")
    func reference() throws {
        let run = try said("scripts/generate-reference", ["--bin", builtExecutables, "--check"])
        #expect(run.status == 0, "\(run.text)")
    }

    @Test("every link of a page leads to a file that is there", arguments: pages)
    func links(page: String) throws {
        let place = root.appending(path: page)
        let text = try String(contentsOf: place, encoding: .utf8)
        for match in text.matches(of: /\]\(([^)#\s]+)/) where !match.1.hasPrefix("http") {
            let target = place.deletingLastPathComponent().appending(path: String(match.1))
            #expect(
                FileManager.default.fileExists(atPath: target.standardizedFileURL.path),
                "\(page): \(match.1)")
        }
    }

    @Test("an example that shows something else is a failure")
    func wrongExample() throws {
        let folder = try TemporaryFolder()
        let page = try folder.write(
            "page.md",
            "```console\n$ echo one\none\n$ echo two\nthree\n$ false\n$ echo $?\n1\n```\n")
        let run = try said("scripts/doc-examples", ["--bin", builtExecutables, page])
        #expect(run.status == 1)
        #expect(run.text.contains("page.md: line 5: something else came"), "\(run.text)")
        #expect(run.text.contains("shown: three\n    came:  two"), "\(run.text)")
    }

    @Test("what the ordinary run passes over is run in a machine that has what it needs")
    func taggedExamples() throws {
        let scripts = try ["pages", "source"].map {
            try String(contentsOf: root.appending(path: "Tests/Systemd/\($0)"), encoding: .utf8)
        }.joined()
        for page in pages {
            let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
            for match in text.matches(of: /(?m)^(?:```|<!-- )\w+ .*only=(\S+)/) {
                // What starts all tests cannot be one of them; scripts/doc-examples says so.
                let isRun =
                    match.1 == "whole" || scripts.contains(" \(match.1)")
                    || scripts.contains("(\(match.1)")
                #expect(isRun, "\(page): nothing runs what is tagged \(match.1)")
            }
        }
    }

    @Test("a shell example that nothing runs is a failure")
    func deadExample() throws {
        let folder = try TemporaryFolder()
        let page = try folder.write("page.md", "```sh\npickerctl get\n```\n")
        let run = try said("scripts/doc-examples", ["--bin", builtExecutables, page])
        #expect(run.status == 1)
        #expect(run.text.contains("a shell example that nothing runs"), "\(run.text)")
    }
}

/// Runs a program of the project and gives its exit status and all that it said.
func said(
    _ program: String, _ arguments: [String], environment: [String: String] = [:]
) throws -> (status: Int32, text: String) {
    let process = Process()
    process.executableURL =
        program.hasPrefix("/") ? URL(filePath: program) : root.appending(path: program)
    process.arguments = arguments
    process.currentDirectoryURL = root
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let text = String(
        decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
}
