import Foundation
import Testing

@testable import pickerctl

@Suite("the output of a command, line by line", .timeLimit(.minutes(1)))
struct LineReaderTests {
    /// Reads nothing from a command that nobody waits for.
    private func reader(of words: [String]) throws -> LineReader {
        var reader = try LineReader(copiesTo: open("/dev/null", O_WRONLY | O_CLOEXEC))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.standardOutput = FileHandle(fileDescriptor: reader.writer)
        try process.run()
        reader.closeWriter()
        return reader
    }

    @Test("a command that writes without end does not keep the reader")
    func endless() throws {
        var reader = try reader(of: ["yes", "a line"])
        defer { reader.close() }
        var count = 0
        while count < 100_000 {
            let lines = reader.take()
            #expect(lines.allSatisfy { $0 == "a line" })
            count += lines.count
        }
    }

    @Test("many short lines that come at once, and the last without its end")
    func last() throws {
        var reader = try reader(of: ["printf", "%s", "1\n2\n\n3"])
        defer { reader.close() }
        var lines: [String] = []
        while reader.reader >= 0 { lines += reader.take() }
        #expect(lines == ["1", "2", "", "3"])
    }
}
