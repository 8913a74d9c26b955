import SyncCore
import Testing

@Suite("Decimal numbers")
struct DecimalNumberTests {
    static let texts: [(String, String?)] = [
        ("0", "0"), ("-0", "0"), ("0.0", "0.0"), ("0e5", "0"), ("0e-5", "0.00000"),
        ("0e99999999999", "0"),
        ("1", "1"), ("-1", "-1"), ("0.10", "0.10"), ("-0.05", "-0.05"), ("1e3", "1000"),
        ("1.5e3", "1500"), ("2.5e-3", "0.0025"), ("1500E-2", "15.00"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("9223372036854775808", nil), ("-9223372036854775809", nil), ("18446744073709551615", nil),
        ("123456789012345.6", "123456789012346"), ("12345678901234.5", "12345678901234.5"),
        ("0.123456789012345", "0.123456789012345"), ("0.1234567890123456", "0.123456789012346"),
        ("1e-15", "0.000000000000001"), ("1e-16", nil), ("10e-16", "0.000000000000001"),
        ("1e15", "1000000000000000"), ("1e18", "1000000000000000000"), ("1e19", "10000e15"),
        ("5e20", "500000e15"), ("99999e15", "99999e15"),
        ("999999999999999e15", "999999999999999e15"),
        ("999999999999999e16", nil), ("1e29", "100000000000000e15"), ("1e30", nil), ("1e400", nil),
        ("1e-400", nil), ("1e99999999999999999999", nil), ("1e-99999999999999999999", nil),
        ("1.00000000000000000000000000000000000000000000000000", "1.00000000000000"),
        ("100000000000000000000000000000000000000000000e-40", "10000.0000000000"),
        ("0.000000000000000000000000000000000000000000001e45", "1"),
        ("1.0000000000000000000000000000000000000000000000001", nil),
        ("", nil), ("-", nil), ("1.", nil), (".5", nil), ("+1", nil), ("01", nil), ("1 ", nil),
        (" 1", nil),
        ("1e", nil), ("0x1", nil), ("NaN", nil), ("1,5", nil), ("[1]", nil), ("\"1\"", nil),
        ("٣", nil),
    ]

    @Test("keep value and precision within the bounds, and are none outside them", arguments: texts)
    func parse(_ text: String, _ shown: String?) {
        #expect(DecimalNumber(text)?.description == shown)
    }

    @Test(
        "of 16 and 17 digits are rounded to 15, as the arithmetic of doubles needs",
        arguments: [
            ("0.30000000000000004", "0.3"), ("0.7999999999999999", "0.8"),
            ("434.99999999999994", "435"), ("110.00000000000001", "110"),
            ("-3.3000000000000003", "-3.3"), ("0.12345678901234567", "0.123456789012346"),
            ("1.2345678901234565", "1.23456789012346"), ("9.9999999999999996", "10"),
            ("1.2345678901234567e20", "123456789012346e6"),
            ("0.0012345678901234567", "0.001234567890123"),
            ("12345678901234567", "12345678901234567"),
            ("0.123456789012345678", nil), ("1.2345678901234567e-20", nil),
            ("1.2345678901234567e40", nil),
        ])
    func roundDoubles(_ text: String, _ shown: String?) {
        #expect(DecimalNumber(text)?.description == shown)
    }

    @Test(
        "cost the same whatever the exponent that they are made with",
        arguments: [Int.min, Int.min + 1, -1_000_000_000, -16, 16, 1_000_000_000, Int.max])
    func hugeExponents(_ exponent: Int) {
        let zero = DecimalNumber(significand: 0, exponent: exponent)
        #expect(zero == .zero)
        #expect(zero?.exponent == (exponent < 0 ? -15 : 0))
        #expect(DecimalNumber(significand: 12345678901234567, exponent: exponent) == nil)
        for digits in [Int128.max, Int128.min] {
            #expect(DecimalNumber(significand: digits, exponent: exponent) == nil)
        }
    }

    @Test("give an equal number when their own text is parsed")
    func roundTrip() {
        var random = ProtocolRandom(seed: ProtocolRandom.seed)
        for _ in 0..<20_000 {
            let number = random.number()
            #expect(
                DecimalNumber(number.description) == number,
                "seed \(ProtocolRandom.seed): \(number)")
            #expect(
                DecimalNumber(number.description)?.fractionDigits == number.fractionDigits,
                "seed \(ProtocolRandom.seed): \(number)")
        }
    }

    @Test(
        "are equal by value, and then hash alike",
        arguments: [
            ("0.5", "0.50"), ("1", "1.0"), ("1e3", "1000"), ("0", "-0.000"), ("5e20", "500000e15"),
            ("1.5e3", "1500"),
        ])
    func equality(_ left: String, _ right: String) throws {
        let (left, right) = (try #require(DecimalNumber(left)), try #require(DecimalNumber(right)))
        #expect(
            left == right && left.hashValue == right.hashValue && !(left < right) && !(right < left)
        )
    }

    @Test(
        "are ordered by value",
        arguments: [
            [
                "-999999999999999e15", "-9223372036854775808", "-1e3", "-2", "-1.5", "-0.1",
                "-1e-15", "0", "1e-15",
                "0.1", "0.25", "1", "1.01", "2", "1e3", "9223372036854775807", "1e19",
                "999999999999999e15",
            ]
        ])
    func order(_ texts: [String]) {
        let numbers = texts.compactMap { DecimalNumber($0) }
        #expect(numbers.count == texts.count)
        for (index, number) in numbers.enumerated() {
            for (other, another) in numbers.enumerated() {
                #expect((number < another) == (index < other), "\(number) \(another)")
                #expect((number == another) == (index == other), "\(number) \(another)")
            }
        }
    }

    @Test("add and subtract exactly, or not at all")
    func arithmetic() throws {
        let (tenth, fifth) = (
            try #require(DecimalNumber("0.1")), try #require(DecimalNumber("0.2"))
        )
        #expect(tenth.adding(fifth)?.description == "0.3")
        #expect(tenth.subtracting(fifth)?.description == "-0.1")
        #expect(DecimalNumber(.max).adding(DecimalNumber(1)) == nil)
        #expect(DecimalNumber(.min).subtracting(DecimalNumber(1)) == nil)
        #expect(DecimalNumber(.min).negated == nil)
        #expect(DecimalNumber(.max).adding(tenth) == nil)
        #expect(DecimalNumber("999999999999999e15")?.adding(DecimalNumber("1e-15")!) == nil)
        var random = ProtocolRandom(seed: ProtocolRandom.seed)
        for _ in 0..<20_000 {
            let (left, right) = (random.number(), random.number())
            guard let sum = left.adding(right) else { continue }
            #expect(sum == right.adding(left), "seed \(ProtocolRandom.seed)")
            if let back = sum.subtracting(right) {
                #expect(back == left, "seed \(ProtocolRandom.seed)")
            }
        }
    }

    @Test(
        "show at least so many digits after the point as asked",
        arguments: [
            ("1", 2, "1.00"), ("0.5", 2, "0.50"), ("0.125", 2, "0.125"), ("0.50", 1, "0.5"),
            ("-3", 0, "-3"),
            ("9223372036854775807", 2, "9223372036854775807"),
        ])
    func formatted(_ text: String, _ digits: Int, _ shown: String) throws {
        #expect(try #require(DecimalNumber(text)).formatted(fractionDigits: digits) == shown)
    }
}
