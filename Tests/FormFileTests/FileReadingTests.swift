import Foundation
import TestKit
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
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "file")
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
        #expect(message("/dev/zero") == "/dev/zero: it is not a regular file")
        #expect(message("/etc/\0passwd") == "/etc/\\u{0}passwd: a path with a NUL in it")
    }

    @Test("a named pipe or a device is refused at once; an open descriptor may be a pipe")
    func regularFilesAlone() throws {
        let pipe = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { unlink(pipe) }
        try #require(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/null", "/dev/zero"] {
            for alsoDescriptors in [true, false] {
                let error = #expect(throws: FileIssues.self) {
                    try FileReading.bytes(ofFile: path, alsoDescriptors: alsoDescriptors)
                }
                #expect(error?.issues.first?.message == "it is not a regular file")
            }
        }
        var ends: [Int32] = [-1, -1]
        try #require(Foundation.pipe(&ends) == 0)
        defer { close(ends[0]) }
        #expect(write(ends[1], "form", 4) == 4)
        close(ends[1])
        let path = "/dev/fd/\(ends[0])"
        #expect(throws: FileIssues.self) {
            try FileReading.bytes(ofFile: path, alsoDescriptors: false)
        }
        #expect(try FileReading.bytes(ofFile: path) == Array("form".utf8))
    }
}
