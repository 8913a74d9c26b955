// What a line of a command's output means.

internal import SyncCore

/// A line of a command's output: progress, or a text beside it.
struct ProgressLine: Equatable {
    var fraction: DecimalNumber?
    var text: String?

    init(fraction: DecimalNumber?, text: String?) {
        self.fraction = fraction
        self.text = text
    }

    /// `42% copying`, `7/12 copying`, or a text.
    init(_ line: String) {
        let line = line.drop { $0.isWhitespace }
        let number = line.prefix { $0.isASCII && $0.isNumber }
        let rest = line.dropFirst(number.count)
        if let percent = Int64(number), percent <= 100, rest.first == "%" {
            fraction = DecimalNumber(significand: Int128(percent), exponent: -2)
            text = ButtonProgress.line(rest.dropFirst())
            return
        }
        let all = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
        let after = rest.dropFirst(1 + all.count)
        if let done = Int64(number), let total = Int64(all), rest.first == "/", total > 0,
            done <= total, after.first.map(\.isWhitespace) ?? true
        {
            let thousandths = Int128(done) * 1_000 / Int128(total)
            fraction = DecimalNumber(significand: thousandths, exponent: -3)
            text = ButtonProgress.line(after)
            return
        }
        text = ButtonProgress.line(line)
    }
}
