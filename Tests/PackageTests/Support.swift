import Foundation
import Testing

// The programs as they were built, the tools of the house, and a folder for what they make.

/// The source tree.
let house = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// Where the executables lie: beside the test bundle, or in `PICKERSYNC_BIN`.
let products: URL = {
    if let folder = ProcessInfo.processInfo.environment["PICKERSYNC_BIN"] {
        return URL(filePath: folder)
    }
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: own).deletingLastPathComponent()
}()

/// A folder that is removed with the last reference.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = URL(filePath: "/tmp").appending(path: "package-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func callAsFunction(_ name: String) -> String { url.appending(path: name).path }
}

/// What a program printed on both streams, and how it ended.
struct Outcome {
    var status: Int32
    var text: String
    var lines: [String] { text.split(separator: "\n").map(String.init) }
}

/// Runs a program that is looked up in PATH, from the source tree.
func run(_ words: [String], environment: [String: String] = [:]) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    process.currentDirectoryURL = house
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Outcome(status: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
}

/// A tool of Debian's, and whether it is here.
func tool(_ name: String) -> Bool {
    let places = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
        .split(separator: ":")
    return places.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
}

/// `make install` or `make uninstall` of the built programs into a folder.
func make(_ target: String, into folder: Folder, _ variables: String...) throws -> Outcome {
    try run(
        [
            "make", "--no-print-directory", target, "DESTDIR=\(folder.url.path)",
            "release=\(products.path)",
        ] + variables)
}

/// The files below a folder, as paths from it, sorted.
func files(below folder: URL) -> [String] {
    let walker = FileManager.default.enumerator(atPath: folder.path)
    return (walker?.compactMap { $0 as? String } ?? []).filter {
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(
            atPath: folder.appending(path: $0).path, isDirectory: &isFolder)
        return !isFolder.boolValue
    }.sorted()
}
