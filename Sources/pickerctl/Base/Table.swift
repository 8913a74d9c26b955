internal import Glibc
internal import SyncCore
internal import TerminalUI

/// Rows with aligned columns, measured in terminal columns.
struct Table {
    private var rows: [[String]]

    init(_ heading: [String]) {
        rows = [heading]
    }

    mutating func append(_ row: [String]) {
        rows.append(row.map { $0.escapedForDisplay() })
    }

    var isEmpty: Bool { rows.count == 1 }

    /// The lines; the last column is not padded.
    var lines: [String] {
        let widths = rows[0].indices.map { column in
            rows.map { DisplayWidth.columns(of: $0[column]) }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.enumerated().map { column, text in
                column == row.count - 1 ? text : DisplayWidth.padded(text, to: widths[column])
            }
            var line = Self.joined(cells, by: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// Joins texts. `Array.joined` is generic at run time: its first call searches all of the
    /// program's conformances, which is slow.
    static func joined(_ texts: [String], by separator: String) -> String {
        var line = texts.first ?? ""
        for text in texts.dropFirst() {
            line += separator
            line += text
        }
        return line
    }

    func print(_ console: Console) throws(Failure) {
        for (number, line) in lines.enumerated() {
            try console.line(number == 0 ? console.bold(line) : line)
        }
    }
}

/// Times for people, in the local time zone.
enum LocalTime {
    private static func parts(_ seconds: time_t) -> tm? {
        var seconds = seconds
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? nil : parts
    }

    /// Today's date in the local time zone.
    static var today: CivilDate? {
        parts(time(nil)).flatMap {
            CivilDate(
                year: Int($0.tm_year) + 1900, month: Int($0.tm_mon) + 1, day: Int($0.tm_mday))
        }
    }

    /// The offset of local time from UTC in seconds.
    static func offset(at moment: Timestamp) -> Int64 {
        parts(time_t(moment.milliseconds / 1_000)).map { Int64($0.tm_gmtoff) } ?? 0
    }

    /// The start of a day in local time: mktime(3).
    static func midnight(_ day: CivilDate) -> Timestamp {
        var parts = tm()
        parts.tm_year = Int32(day.year - 1900)
        parts.tm_mon = Int32(day.month - 1)
        parts.tm_mday = Int32(day.day)
        parts.tm_isdst = -1
        return Timestamp(milliseconds: Int64(mktime(&parts)) * 1_000)
    }

    /// The next moment at which a clock here shows `18:00` or `18:00:30`; `nil` for other text.
    static func next(_ text: String, after now: Timestamp) -> Timestamp? {
        let numbers = text.split(separator: ":", omittingEmptySubsequences: false).map { Int32($0) }
        guard (2...3).contains(numbers.count), let hour = numbers[0], let minute = numbers[1],
            let second = numbers.count == 3 ? numbers[2] : 0, (0...23).contains(hour),
            (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        for days in 0...2 as ClosedRange<Int32> {
            guard var day = parts(time_t(now.milliseconds / 1_000)) else { return nil }
            day.tm_mday += days
            (day.tm_hour, day.tm_min, day.tm_sec, day.tm_isdst) = (hour, minute, second, -1)
            let moment = Timestamp(milliseconds: Int64(mktime(&day)) * 1_000)
            if moment > now { return moment }
        }
        return nil
    }

    /// The wall clock: clock_gettime(2), CLOCK_REALTIME.
    static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// `14:30:05` for today, with the date for other days.
    static func clock(_ moment: Timestamp) -> String {
        let whole = text(moment)
        guard let today, whole.hasPrefix(today.description + " ") else { return whole }
        return String(whole.dropFirst(today.description.count + 1))
    }

    /// `2026-11-21 14:30:05`: localtime_r(3).
    static func text(_ moment: Timestamp) -> String {
        var seconds = time_t(moment.milliseconds / 1_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return moment.description }
        func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(parts.tm_year + 1900)-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
        return "\(date) \(digits(parts.tm_hour)):\(digits(parts.tm_min)):\(digits(parts.tm_sec))"
    }
}
