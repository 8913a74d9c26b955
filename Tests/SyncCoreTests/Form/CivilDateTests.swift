// Civil dates against Foundation's Gregorian calendar, and the strictness of their texts.

import Foundation
import SyncCore
import Testing

@Suite("Civil dates")
struct CivilDateTests {
    private var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .gmt
        return calendar
    }

    @Test("every day of 1890 to 2110 is the day that Foundation has")
    func againstFoundation() throws {
        let calendar = calendar
        let first = try #require(CivilDate("1890-01-01")).daysSince1970
        let last = try #require(CivilDate("2110-12-31")).daysSince1970
        for days in first...last {
            let date = try #require(CivilDate(daysSince1970: days))
            let moment = Date(timeIntervalSince1970: TimeInterval(days) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day, .weekday], from: moment)
            #expect([date.year, date.month, date.day] == [parts.year, parts.month, parts.day])
            #expect(date.weekday == ((parts.weekday ?? 0) + 5) % 7 + 1)
            #expect(date.daysSince1970 == days)
        }
    }

    @Test("the whole range goes there and back, and ends at the years 1 and 9999")
    func range() throws {
        let first = try #require(CivilDate("0001-01-01"))
        let last = try #require(CivilDate("9999-12-31"))
        for days in stride(from: first.daysSince1970, through: last.daysSince1970, by: 97) {
            let date = try #require(CivilDate(daysSince1970: days))
            #expect(date.daysSince1970 == days && CivilDate(date.description) == date)
        }
        #expect(first.adding(days: -1) == nil && last.adding(days: 1) == nil)
        #expect(last.adding(months: 1) == nil && first.adding(months: -1) == nil)
        #expect(first.adding(days: .max) == nil && last.adding(months: .max) == nil)
    }

    @Test(
        "days and months that are not there are no dates",
        arguments: [
            "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-01-32",
            "2026-04-31", "0000-01-01", "2026-1-1", "26-01-01", "2026-01-01 ", "2026/01/01",
            "+026-01-01", "2026-01-0１", "", "2026-01-01T00:00",
        ])
    func strictDates(text: String) {
        #expect(CivilDate(text) == nil)
    }

    @Test("leap days are dates", arguments: ["2000-02-29", "2024-02-29", "0004-02-29"])
    func leapDays(text: String) {
        #expect(CivilDate(text)?.description == text)
    }

    @Test(
        "times and moments are as strict",
        arguments: [
            "24:00", "23:60", "7:30", "07:30:00", "0730", "07.30", "-7:30",
        ])
    func strictTimes(text: String) {
        #expect(CivilTime(text) == nil)
        #expect(CivilDateTime("2026-11-21T" + text) == nil)
    }

    @Test("months are added with the day kept inside the month")
    func months() throws {
        let date = try #require(CivilDate("2024-01-31"))
        #expect(date.adding(months: 1)?.description == "2024-02-29")
        #expect(date.adding(months: 13)?.description == "2025-02-28")
        #expect(date.adding(months: -2)?.description == "2023-11-30")
        #expect(YearMonth("2026-12")?.adding(months: 1)?.description == "2027-01")
        #expect(YearMonth("0001-01")?.adding(months: -1) == nil)
    }
}
