import Foundation
import TestKit
import Testing

@Test("every page, section and type that a comment or a page names exists")
func references() throws {
    let outcome = try ChildProcess.run([
        "python3", "Tests/ArchitectureTests/check_references.py", sourceTree.path,
    ])
    #expect(outcome.status == 0, "\(outcome.out)")
}

@Test("comments, messages, test names and pages are in plain technical English")
func plainWords() throws {
    let outcome = try ChildProcess.run([
        "python3", "Tests/ArchitectureTests/check_words.py", sourceTree.path,
    ])
    #expect(outcome.status == 0, "\(outcome.out)")
}
