import Testing

@testable import SyncCore

/// The work for all conditions of a form is bounded.
@Suite struct ConditionBoundTests {
    private func issues(
        of text: String, limits: FormLimits = FormLimits()
    ) -> [FormIssue] {
        do throws(FormIssues) {
            let json = (try? JSON(parsing: Array(text.utf8))) ?? .null
            _ = try FormDefinition.parse(
                json, limits: limits, compile: { _ in .success(PatternMatcher { _ in true }) }
            )
            return []
        } catch { return error.issues }
    }

    /// A condition around a list, an element of the list, and how many others there are.
    private static let cases = [
        (#"{"any": [@]}"#, #"{"n": 1}"#, 2), (#"{"n": {"in": [@]}}"#, "1", 2),
        (#"{"all": [{"none": [@]}]}"#, #""complete""#, 3),
    ]

    @Test(
        "a form has a bounded number of conditions and compared values, one more is refused once",
        arguments: cases)
    func conditions(outer: String, inner: String, others: Int) {
        func form(_ count: Int) -> String {
            // The second condition is counted with the first.
            let list = Array(repeating: inner, count: count).joined(separator: ",")
            let condition = outer.replacing("@", with: list)
            return #"{"form": "f", "fields": [{"id": "n", "type": "stepper"}, {"id": "x", "type": "#
                + #""toggle", "enabledWhen": \#(condition), "visibleWhen": {"n": 1}}]}"#
        }
        let most = FormLimits().conditionPartsMax - others
        #expect(issues(of: form(most)).isEmpty)
        for count in [most + 1, 3 * most] {
            let found = issues(of: form(count))
            #expect(found.count == 1 && found[0].message.contains("conditions"), "\(found)")
            // An earlier version has accepted it.
            for limits in [FormLimits.accepted, .received] {
                #expect(issues(of: form(count), limits: limits).isEmpty)
            }
        }
    }
}
