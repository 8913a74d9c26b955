import SyncCore
import Testing

@testable import FormFile

@Suite("Issues of a file") struct FileIssueTests {
    private let text = """
        form: f
        sections:
          - title: One
            fields: []
          - title: Two
            fields:
              - id: a
                options:
                  - a
                  - b
                  - {tag: a, label: "\\e[31m"}
        """

    private func issues(_ issues: [FormIssue]) throws -> [String] {
        let tree = try YAMLDocument.parse(Array(text.utf8), name: "deploy.yaml")
        return FileIssues(FormIssues(issues), in: tree).issues.map(\.description)
    }

    @Test("what the model finds wrong is told with file, line, column, path and what was expected")
    func rendered() throws {
        let tag: [PathStep] = [
            .key("sections"), .index(1), .key("fields"), .index(0), .key("options"), .index(2),
            .key("tag"),
        ]
        let issue = FormIssue(
            path: tag, message: "two options have the tag \"a\"", expected: "distinct tags")
        #expect(
            try issues([issue]) == [
                "deploy.yaml:11:19: sections[1].fields[0].options[2].tag: "
                    + "two options have the tag \"a\"; expected distinct tags"
            ])
    }

    @Test("issues come in the order of the file, whatever the order they were found in")
    func sorted() throws {
        let paths: [[PathStep]] = [
            [.key("sections"), .index(1), .key("title")], [.key("form")], [],
            [.key("sections"), .index(0), .key("fields")],
        ]
        let found = try issues(paths.map { FormIssue(path: $0, message: "m", expected: "") })
        #expect(
            found == [
                "deploy.yaml:1:1: m", "deploy.yaml:1:7: form: m",
                "deploy.yaml:4:13: sections[0].fields: m", "deploy.yaml:5:12: sections[1].title: m",
            ])
    }

    @Test("a list that begins below its name is told by its name, what is missing by its parent")
    func places() throws {
        let options: [PathStep] = [
            .key("sections"), .index(1), .key("fields"), .index(0), .key("options"),
        ]
        let type = options.dropLast() + [.key("type")]
        let found = try issues([
            FormIssue(path: options, message: "m", expected: "n"),
            FormIssue(path: Array(type), message: "m", expected: "n"),
        ])
        #expect(
            found == [
                "deploy.yaml:7:9: sections[1].fields[0].type: m; expected n",
                "deploy.yaml:8:9: sections[1].fields[0].options: m; expected n",
            ])
    }

    @Test("an issue is one line without control characters, whatever it quotes")
    func harmless() {
        let issue = FileIssue(
            file: "a\nb", position: nil, path: [.key("x\u{1b}[0m"), .key("y")],
            message: "\u{202e}m",
            expected: "\r")
        #expect(
            issue.description
                == "a\\u{A}b: [\"x\\u{1B}[0m\"].y: \\u{202E}m; expected \\u{D}")
    }

    @Test("a hundred issues are told of a million")
    func bounded() {
        let many = (0..<5000).map {
            FileIssue(file: "f", position: SourcePosition(line: 5000 - $0, column: 1), message: "m")
        }
        let issues = FileIssues(many).issues
        #expect(issues.count == FileIssues.issuesMax)
        #expect(issues.first?.position?.line == 1)
    }

    @Test("a form file that is not there, or is not YAML, is a failure with the file's name")
    func unreadable() {
        guard case .failure(let missing) = FormFile.load(path: "/nonexistent/f.yaml") else {
            Issue.record("a file that is not there was loaded")
            return
        }
        #expect(missing.description == "/nonexistent/f.yaml: no such file")
        guard case .failure(let broken) = FormFile.load(Array("a: [".utf8), name: "f.yaml") else {
            Issue.record("a file that is not YAML was loaded")
            return
        }
        #expect(broken.description.hasPrefix("f.yaml:1:5: "))
    }

    @Test("a tab that indents is named for what it is")
    func tabs() {
        #expect(formFileTabIssue == ["2:1: a tab where spaces indent; expected spaces"])
    }

    private var formFileTabIssue: [String] {
        do throws(FileIssues) {
            _ = try YAMLDocument.parse(Array("a:\n\tb: 1".utf8), name: "t")
            return []
        } catch {
            return error.issues.map { String($0.description.dropFirst(2)) }
        }
    }
}
