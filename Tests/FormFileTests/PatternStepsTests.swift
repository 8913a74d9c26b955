import SyncCore
import Testing

@testable import FormFile

/// No pattern takes more steps than its text allows, whatever it is made of.
@Suite struct PatternStepsTests {
    private static let text = String(repeating: "a", count: 4_000)

    static let costly = [
        "(?:" + String(repeating: "(?=.*+)", count: 16) + ".)*+",
        "(?:(?=.*).)*+", "(?:(?=.*?b|.).)*+", "(?:(?!.*b).)*+", "(?:(?=.++).)*+",
        "(?:(?:a|aa)+)+b", "(a+)+b", "(a|a)*b", "(?:a?){40}a{40}b",
        "(a*)(?:(?=\\1b|a).)*+", "(.*)(?:(?=\\g1b|a).)*+", "(?<n>.*)(?:(?=\\k<n>b|a).)*+",
        "(?:(?=.{3000}b|a).)*+", "(?:(?=(?:.{300}){10}b|a).)*+", "(?:(?=[^b]{2000,}b|a).)*+",
        "(a(?1)?a?)+b", "(?:(?=(.*)\\1b|a).)*+", "(?R)?a(?R)?b", "(?>a*)(?:(?=(?>a*)).)*",
        "(?:(?=\\X*+).)*+", "(?:(?=\\p{L}*+).)*+", "(?:(?=[\\p{L}\\p{N}äöü]*+).)*+",
        "(?i:(?=[à-ÿ\\x{100}-\\x{17f}a]*+).)*+", "(?:(?=(?C1).*+).)*+",
        "(?:(?<=a).(?=.*+))*+", "(?:a(*ACCEPT)|.*)*", "(?:.*(*SKIP)b|a)*+", "(?s).*?.*?.*?.*?b",
        "(?(?=.*b)x|.)*+", "(?:(?=(.*))\\1)?(?:(?=.*).)*+",
    ]

    @Test("it ends within its steps, and an undecided match is not a match", arguments: costly)
    func bounded(pattern: String) throws {
        let expression = try RegularExpression(pattern)
        for text in ["", "a", Self.text, Self.text + "c", Self.text + "é"] {
            let (outcome, steps) = expression.match(text)
            let most =
                RegularExpression.stepsMax + RegularExpression.stepsAByteMax * text.utf8.count
            // The last item may be counted whole before the count ends the match.
            #expect(steps <= most + 64 * (text.utf8.count + 1), "\(steps) of \(most)")
            if steps > most { #expect(outcome == .undecided) }
        }
    }

    @Test("looking ahead at all of a text for each character is counted, not only its backtracks")
    func lookaheads() throws {
        let expression = try RegularExpression(Self.costly[0])
        #expect(expression.match(Self.text).outcome == .undecided)
        // Sixteen looks at what is left of a short text are few.
        #expect(expression.match("aaaa").outcome == .matches)
    }

    @Test(
        "patterns that people write are decided with a small part of their steps",
        arguments: [
            ("[a-z0-9-]+(\\.[a-z0-9-]+)*", String(repeating: "abc-def.", count: 200) + "x"),
            ("[^@\\s]+@[^@\\s]+\\.[a-z]{2,24}", String(repeating: "n", count: 60) + "@example.com"),
            (
                "(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)){3}",
                "192.168.100.254"
            ),
            (
                "(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}",
                "a-long-host.in.some.domain.org"
            ),
            ("[\\p{L} .'-]{1,200}", String(repeating: "Zoë ", count: 49)),
            ("(?:[^\\n]*\\n)*[^\\n]*", String(repeating: "a line of text\n", count: 200)),
            ("\\d{4}-\\d{2}-\\d{2}", "2026-11-22"), (".*", String(repeating: "x", count: 60_000)),
        ])
    func usual(pattern: String, text: String) throws {
        let (outcome, steps) = try RegularExpression(pattern).match(text)
        #expect(outcome == .matches)
        let most = RegularExpression.stepsMax + RegularExpression.stepsAByteMax * text.utf8.count
        #expect(steps * 2 < most, "\(steps) of \(most)")
    }

    @Test("patterns that take much memory together are refused")
    func memory() {
        let fields = (0..<1_500).map {
            #"{"id":"t\#($0)","type":"text","maxLength":9,"pattern":"(?:(?:a|b){0,90}c\#($0)){0,9}"}"#
        }
        let text = #"{"form":"f","fields":[\#(fields.joined(separator: ","))]}"#
        guard let json = try? JSON(parsing: Array(text.utf8)) else {
            Issue.record("this is JSON")
            return
        }
        #expect(throws: FormIssues.self) {
            try FormDefinition.parse(
                json, limits: FormLimits(), compile: RegularExpression.compiler)
        }
    }
}
