import Testing

@testable import SyncCore

/// What a template may name and show: viewers render it with every change.
@Suite struct TemplateBoundTests {
    private func parse(_ text: String) throws(FormIssues) -> FormDefinition {
        try FormDefinition.parse(
            [
                "form": "f",
                "fields": [
                    ["id": "a", "type": "text", "maxLength": 40_000],
                    ["id": "l", "type": "label", "text": .string(text)],
                ],
            ], limits: FormLimits(), compile: { _ in .success(PatternMatcher { _ in true }) })
    }

    @Test("a template that names more values than it may is refused")
    func references() throws {
        #expect(throws: FormIssues.self) {
            try parse(String(repeating: "${a}", count: Template.referencesMax + 1))
        }
        _ = try parse(String(repeating: "${a}", count: Template.referencesMax))
    }

    @Test(
        "what is rendered is cut off, between characters", arguments: ["x", "ä", "𝄞", "e\u{301}"])
    func rendered(letter: String) throws {
        let form = try parse(String(repeating: "${a}", count: Template.referencesMax))
        guard case .label(let template) = form.controls[1].kind else { return }
        let value = String(repeating: letter, count: 9_001)
        let text = form.render(template, of: 1) { _ in .string(value) }
        #expect(text.utf8.count <= Template.renderedBytesMax)
        #expect(text.utf8.count > Template.renderedBytesMax - 8)
        #expect(text.hasSuffix("…") || text.unicodeScalars.last == "…")
        #expect(!text.unicodeScalars.contains("\u{FFFD}"))
    }
}
