import Foundation
import Testing

@testable import FormFile

@Suite("Reading files") struct FileReadingTests {
    private func message(_ path: String, bytesMax: Int = 100) -> String? {
        do throws(FileIssues) {
            _ = try FileReading.bytes(ofFile: path, bytesMax: bytesMax)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("a file is read whole, up to the bound")
    func whole() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let content = [UInt8](repeating: 7, count: 200_000)
        try Data(content).write(to: file)
        #expect(try FileReading.bytes(ofFile: file.path, bytesMax: 200_000) == content)
        #expect(
            message(file.path, bytesMax: 199_999)
                == "\(file.path): too large a file; expected at most 199999 bytes")
        try Data().write(to: file)
        #expect(try FileReading.bytes(ofFile: file.path) == [])
    }

    @Test("what cannot be read is named with the reason")
    func unreadable() {
        #expect(message("/nonexistent/x") == "/nonexistent/x: no such file")
        #expect(message("/") == "/: it is a directory")
        #expect(message("/dev/zero")?.contains("too large") == true)
        #expect(message("/etc/\0passwd") == "/etc/\\u{0}passwd: a path with a NUL in it")
    }
}
