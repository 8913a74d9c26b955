import SyncCore
import Testing

@testable import FormFile

@Suite("Patterns") struct RegularExpressionTests {
    private func outcome(_ pattern: String, _ text: String) throws -> MatchOutcome {
        try RegularExpression(pattern).outcome(on: text)
    }

    @Test("the whole text must match, anchors or not, and a last newline is part of it")
    func whole() throws {
        #expect(try outcome("a+", "aaa") == .matches)
        #expect(try outcome("a+", "aab") == .differs)
        #expect(try outcome("a+", "baa") == .differs)
        #expect(try outcome("a|ab", "ab") == .matches)
        #expect(try outcome("^[0-9]+$", "12") == .matches)
        #expect(try outcome("^[0-9]+$", "12\n") == .differs)
        #expect(try outcome("(?m)^a$", "a\na") == .differs)
        #expect(try outcome("", "") == .matches)
        #expect(try outcome("", "a") == .differs)
        #expect(try outcome("(a)(b)(c)", "abc") == .matches)
    }

    @Test("text is matched by character, not by byte")
    func unicode() throws {
        #expect(try outcome(".", "é") == .matches)
        #expect(try outcome(".", "😀") == .matches)
        #expect(try outcome("\\p{Lu}+", "ÄÖ") == .matches)
        #expect(try outcome("[а-я]+", "привет") == .matches)
        #expect(try outcome("a.b", "a\0b") == .matches)
    }

    @Test("a pattern that backtracks without end is ended by the limits")
    func limits() throws {
        let text = String(repeating: "a", count: 40) + "b"
        #expect(try outcome("^(a+)+$", text) == .undecided)
        #expect(try outcome("(a|aa)+", text) == .undecided)
        #expect(try RegularExpression.compiler("^(a+)+$").get().matches(text) == false)
        #expect(try outcome("(?:a|b|ab)*c", String(repeating: "ab", count: 5000)) == .undecided)
        #expect(try outcome("(a(?1)?b)+", String(repeating: "a", count: 100_000)) == .undecided)
    }

    @Test(
        "no verb at a pattern's start lifts a limit",
        arguments: [
            "(*LIMIT_MATCH=4000000000)", "(*LIMIT_DEPTH=4000000000)", "(*LIMIT_HEAP=4000000000)",
            "(*NO_START_OPT)", "(*NO_AUTO_POSSESS)", "(*NO_JIT)", "(*UTF)", "(*UCP)",
            "(*LIMIT_MATCH=4000000000)(*LIMIT_DEPTH=4000000000)(*LIMIT_HEAP=4000000000)",
        ])
    func verbs(_ verb: String) throws {
        let text = String(repeating: "a", count: 40) + "b"
        #expect(try outcome(verb + "^(a+)+$", text) == .undecided)
        #expect(try outcome(verb + "a", "ab") == .differs)
    }

    @Test("a pattern can lower a limit")
    func lowered() throws {
        #expect(try outcome("(?:a|b)*c", "ababababac") == .matches)
        #expect(try outcome("(*LIMIT_MATCH=1)(?:a|b)*c", "ababababac") == .undecided)
    }

    @Test("an ordinary pattern on a long text stays within the limits")
    func ordinary() throws {
        let words = String(repeating: "word and ", count: 5000)
        #expect(try outcome("[a-z ]*", words) == .matches)
        #expect(try outcome("(?s).*", words) == .matches)
    }

    @Test("a callout in a pattern does nothing")
    func callouts() throws {
        #expect(try outcome("a(?C1)b(?C\"x\")", "ab") == .matches)
    }

    @Test(
        "what is not a pattern is refused with the place of the mistake",
        arguments: [
            "(a": 2, "[z-a]": 3, "*a": 0, "\\C": 2, "a(?<n>b)\\k<m>": -1,
            "((((a{1000}){1000}){1000}){1000})": -1, "(*NOSUCH)a": -1, "\\": 1,
        ])
    func errors(_ pattern: String, _ offset: Int) throws {
        do throws(PatternError) {
            _ = try RegularExpression(pattern)
            Issue.record("\(pattern) was taken")
        } catch {
            #expect(offset < 0 || error.offsetBytes == offset, "\(error)")
            #expect(!error.message.isEmpty)
        }
    }

    @Test("a pattern longer than the bound is refused, one at it is not")
    func length() throws {
        let most = String(repeating: "a", count: RegularExpression.patternBytesMax)
        #expect(try outcome(most, most) == .matches)
        #expect(throws: PatternError.self) { try RegularExpression(most + "a") }
    }

    @Test("one pattern may be used from several threads at once")
    func threads() async throws {
        let pattern = try RegularExpression("(?:[a-z]+-?)+[0-9]")
        let wrong = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<500).filter { pattern.outcome(on: "eu-west-\($0 % 10)") != .matches }.count
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }
}
