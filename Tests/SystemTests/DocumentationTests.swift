import Foundation
import TestKit
import Testing

// What the pages show is what the programs do.

/// README and every page below `docs`, by their paths; clients have pages of their own.
private let pages: [String] = {
    var found = ["README.md"]
    for folder in ["docs", "clients"] {
        let walker = FileManager.default.enumerator(
            at: sourceTree.appending(path: folder), includingPropertiesForKeys: nil)
        for case let page as URL in walker ?? .init() where page.pathExtension == "md" {
            found.append(String(page.path.dropFirst(sourceTree.path.count + 1)))
        }
    }
    return found.sorted()
}()

@Suite("The documentation")
struct DocumentationTests {
    @Test("every example of a page prints what the page shows", arguments: pages)
    func examples(page: String) throws {
        let run = try ChildProcess.run(["scripts/doc-examples", "--bin", builtProducts.path, page])
        #expect(run.status == 0, "\(run.out)")
    }

    @Test("the pages that are generated are what the programs, the limits and the schema say")
    func reference() throws {
        let run = try ChildProcess.run([
            "scripts/generate-reference", "--bin", builtProducts.path, "--check",
        ])
        #expect(run.status == 0, "\(run.out)")
    }

    @Test("every link of a page leads to a file that is there", arguments: pages)
    func links(page: String) throws {
        let place = sourceTree.appending(path: page)
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
        let run = try ChildProcess.run(["scripts/doc-examples", "--bin", builtProducts.path, page])
        #expect(run.status == 1)
        #expect(run.out.contains("page.md: line 5: something else came"), "\(run.out)")
        #expect(run.out.contains("shown: three\n    came:  two"), "\(run.out)")
    }

    @Test("what the ordinary run passes over is run in a machine that has what it needs")
    func taggedExamples() throws {
        let scripts = try ["pages", "source"].map {
            try String(
                contentsOf: sourceTree.appending(path: "Tests/Systemd/\($0)"), encoding: .utf8)
        }.joined()
        for page in pages {
            let text = try String(contentsOf: sourceTree.appending(path: page), encoding: .utf8)
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
        let run = try ChildProcess.run(["scripts/doc-examples", "--bin", builtProducts.path, page])
        #expect(run.status == 1)
        #expect(run.out.contains("a shell example that nothing runs"), "\(run.out)")
    }
}
