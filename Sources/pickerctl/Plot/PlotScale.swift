// Where an axis has its ticks, and their labels.

internal import SyncCore

/// Ticks at multiples of 1, 2 or 5 times a power of ten, the range from the first to the last.
///
/// Ticks are whole numbers of steps, and steps are decimal: labels are exact.
struct PlotScale: Equatable {
    /// The step is `digit` × 10^`exponent`.
    let digit: Int
    let exponent: Int
    /// The ticks are these multiples of the step.
    let multiples: ClosedRange<Int>

    /// The finest scale over the levels with at most `ticksMax` ticks, 2 or more.
    init(over levels: [Double], ticksMax: Int) {
        let least = levels.min() ?? 0
        let most = levels.max() ?? 0
        // A level that never changes has a step around it, 0 has a step of 1; 15 digits is what
        // levels hold.
        let size = Swift.max(abs(least), abs(most), 1e-300)
        let single = size == 1e-300 ? Double(ticksMax) : size * 0.1
        let span = Swift.max(most - least, size * 1e-12, most == least ? single : 0)
        var exponent = Int((span / Double(ticksMax)).logarithm.rounded(.down))
        while true {
            for digit in [1, 2, 5] {
                let step = Self.step(digit, exponent)
                let first = (least / step).rounded(.down)
                let last = Swift.max((most / step).rounded(.up), first + 1)
                if last - first < Double(ticksMax), abs(first) < 1e15, abs(last) < 1e15 {
                    self.digit = digit
                    self.exponent = exponent
                    multiples = Int(first)...Int(last)
                    return
                }
            }
            exponent += 1
        }
    }

    private static func step(_ digit: Int, _ exponent: Int) -> Double {
        Double("\(digit)e\(exponent)") ?? 1
    }

    private var step: Double { Self.step(digit, exponent) }

    /// Where a level lies: 0 at the first tick, 1 at the last.
    func place(of level: Double) -> Double {
        let first = Double(multiples.lowerBound)
        return (level / step - first) / (Double(multiples.upperBound) - first)
    }

    /// The ticks from the first to the last with their places and labels.
    var ticks: [(place: Double, label: String)] {
        multiples.map { multiple in
            let place =
                Double(multiple - multiples.lowerBound)
                / Double(multiples.upperBound - multiples.lowerBound)
            return (place, label(multiple))
        }
    }

    private func label(_ multiple: Int) -> String {
        DecimalNumber(significand: Int128(multiple * digit), exponent: exponent)
            .map { $0.formatted(fractionDigits: max(0, -exponent)) } ?? "\(multiple)e\(exponent)"
    }
}

extension Double {
    /// The logarithm to the base of ten, of a number above 0, to within one of the whole number
    /// below: the exponent of two tells it.
    fileprivate var logarithm: Double { Double(exponent) * 0.301_029_995_663_981_2 }
}

/// Ticks of a window of time at whole seconds, minutes, hours or days of this machine's zone.
struct TimeScale {
    let window: ClosedRange<Timestamp>
    /// Seconds between two ticks.
    let step: Int64

    private static let steps: [Int64] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200,
        86_400, 172_800, 604_800, 1_209_600, 2_592_000, 7_776_000, 31_536_000,
    ]

    /// The finest scale of at most `ticksMax` ticks.
    init(_ window: ClosedRange<Timestamp>, ticksMax: Int) {
        self.window = window
        let seconds = (window.upperBound.milliseconds - window.lowerBound.milliseconds) / 1_000
        step =
            Self.steps.first { seconds / $0 < Int64(ticksMax) }
            ?? max(1, seconds / Int64(max(1, ticksMax)) + 1)
    }

    /// Where a moment lies: 0 at the window's begin, 1 at its end.
    func place(of moment: Timestamp) -> Double {
        let begin = window.lowerBound.milliseconds
        let span = Double(max(1, window.upperBound.milliseconds - begin))
        return min(max(Double(moment.milliseconds - begin) / span, 0), 1)
    }

    /// The ticks with their places and labels.
    var ticks: [(place: Double, label: String)] {
        let begin = window.lowerBound.milliseconds / 1_000
        let end = window.upperBound.milliseconds / 1_000
        let offset = LocalTime.offset(at: window.lowerBound)
        var tick = ((begin + offset + step - 1) / step) * step - offset
        var ticks: [(place: Double, label: String)] = []
        while tick <= end {
            let moment = Timestamp(milliseconds: tick * 1_000)
            ticks.append((place(of: moment), label(moment)))
            tick += step
        }
        return ticks
    }

    /// `22:30:05`, `22:30` or `2026-11-21`, as fine as the step is.
    private func label(_ moment: Timestamp) -> String {
        let text = LocalTime.text(moment)
        if step < 60 { return String(text.suffix(8)) }
        return step < 86_400 ? String(text.suffix(8).prefix(5)) : String(text.prefix(10))
    }
}
