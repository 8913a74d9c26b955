// Foundation's dates, and the civil ones that they are in a zone.

import Foundation
import PickerSync
import PickerSyncFoundation
import Testing

@Suite("Foundation's dates as civil ones")
struct DateConversionTests {
    private let berlin = TimeZone(identifier: "Europe/Berlin")!
    private let honolulu = TimeZone(identifier: "Pacific/Honolulu")!

    @Test("a moment is the day and the minute that the zone has")
    func zones() throws {
        let moment = Date(timeIntervalSince1970: 1_795_146_059)  // 2026-11-20T03:40:59Z
        #expect(CivilDateTime(moment, in: berlin) == CivilDateTime("2026-11-20T04:40"))
        #expect(CivilDateTime(moment, in: honolulu) == CivilDateTime("2026-11-19T17:40"))
        #expect(CivilDate(moment, in: honolulu) == CivilDate("2026-11-19"))
        #expect(CivilTime(moment, in: berlin) == CivilTime("04:40"))
        #expect(YearMonth(moment, in: berlin) == YearMonth("2026-11"))
    }

    @Test("a civil time is a moment, unless clocks were set forward over it")
    func moments() throws {
        let noon = try #require(CivilDateTime("2026-07-01T12:00"))
        let moment = try #require(noon.moment(in: berlin))
        #expect(moment.timeIntervalSince1970 == 1_782_900_000)
        #expect(CivilDateTime(moment, in: berlin) == noon)
        #expect(CivilDateTime("2026-03-29T02:30")?.moment(in: berlin) == nil)
        let twice = try #require(CivilDateTime("2026-10-25T02:30")?.moment(in: berlin))
        #expect(twice.timeIntervalSince1970 == 1_792_888_200)
    }

    @Test("a day begins where its zone begins it, and a day that was left out does not begin")
    func days() throws {
        let day = try #require(CivilDate("2026-07-01"))
        #expect(day.start(in: berlin)?.timeIntervalSince1970 == 1_782_856_800)
        let apia = try #require(TimeZone(identifier: "Pacific/Apia"))
        #expect(CivilDate("2011-12-30")?.start(in: apia) == nil)
    }

    @Test("today is the day of now, in each zone")
    func today() {
        let before = Date()
        let today = CivilDate.today(in: honolulu)
        let days = [CivilDate(before, in: honolulu), CivilDate(Date(), in: honolulu)]
        #expect(days.contains(today))
    }

    @Test("a year that no form can hold is not a civil date")
    func years() {
        #expect(CivilDate(.distantPast, in: berlin) != nil)
        #expect(CivilDate(Date(timeIntervalSince1970: -70_000_000_000), in: berlin) == nil)
        #expect(CivilDate(Date(timeIntervalSince1970: 300_000_000_000), in: berlin) == nil)
    }

    @Test("an error says what it is where Foundation asks")
    func errors() {
        let error: any Error = FormError.notOpen
        #expect(error.localizedDescription == "the form is not open")
    }
}
