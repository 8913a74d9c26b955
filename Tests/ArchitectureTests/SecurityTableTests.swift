import Foundation
import Testing

private let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

/// The rows of the table "Who may do what to whom" in SECURITY.md: the cells of each.
private func rows() throws -> [[String]] {
    let text = try String(contentsOf: root.appending(path: "SECURITY.md"), encoding: .utf8)
    let section = try #require(
        text.components(separatedBy: "\n## Who may do what").dropFirst().first)
    let table = section.components(separatedBy: "\n## ")[0].split(separator: "\n")
        .filter { $0.hasPrefix("| ") }.dropFirst(2)
    return table.map { line in
        line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}

@Test("each line of SECURITY.md's table names tests that there are")
func securityTableNamesTests() throws {
    let folder = root.appending(path: "Tests")
    let walker = try #require(
        FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var files: [String: URL] = [:]
    for case let file as URL in walker where file.pathExtension == "swift" {
        files[file.deletingPathExtension().lastPathComponent] = file
    }
    let rows = try rows()
    #expect(rows.count >= 15)
    for row in rows {
        try #require(row.count == 5, "\(row)")
        let names = row[4].matches(of: /`(\w+)\/(\w+)`/).map { (String($0.1), String($0.2)) }
        #expect(!names.isEmpty, "no test holds: \(row)")
        for (suite, test) in names {
            let file = try #require(files[suite], "no \(suite).swift")
            let source = try String(contentsOf: file, encoding: .utf8)
            let pattern = try Regex("@Test[^{]*func \(test)\\(")
            #expect(source.contains(pattern), "\(suite) has no test \(test)")
        }
    }
}
