import Foundation
import TestKit

/// Runs a program from the source tree, both of its streams together.
func run(_ words: [String], environment: [String: String] = [:]) throws -> ChildProcess.Outcome {
    try ChildProcess.run(words, environment: environment)
}

/// `make install` or `make uninstall` of the built programs into a folder.
func make(_ target: String, into folder: TemporaryFolder, _ variables: String...) throws
    -> ChildProcess.Outcome
{
    try run(
        [
            "make", "--no-print-directory", target, "DESTDIR=\(folder.path)",
            "release=\(builtProducts.path)",
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
