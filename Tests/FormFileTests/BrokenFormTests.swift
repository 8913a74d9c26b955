import Foundation
import SyncCore
import Testing

@testable import FormFile

@Suite("Form files, end to end") struct BrokenFormTests {
    @Test("a file that is not YAML of ours is refused with the place", arguments: FormFolder.broken)
    func syntax(_ file: URL) throws {
        let expectation = try #require(try Expectation(file), "the first line says nothing")
        let name = file.lastPathComponent
        do throws(FileIssues) {
            _ = try YAMLDocument.parse(try readBytes(file), name: name)
            #expect(expectation.kind != .syntax, "\(name) was read")
        } catch {
            #expect(expectation.kind == .syntax, "\(error)")
            let first = error.issues[0].description
            #expect(first.hasPrefix(expectation.prefix), "\(first)")
            #expect(first.contains(expectation.fragment), "\(first)")
        }
    }

    private func readBytes(_ file: URL) throws(FileIssues) -> [UInt8] {
        try FileReading.bytes(ofFile: file.path)
    }
}
