// The snippets on date pickers. A SwiftUI program has Foundation; its dates become civil ones.

import Foundation
import PickerSync
import PickerSyncFoundation

struct StartDate: SharedForm {
    // snippet 47: mechanical: shared, civil(CivilDate.today())
    @Shared private var date = CivilDate.today()

    var body: some View {
        DatePicker(
            "Start Date",
            selection: $date,
            displayedComponents: [.date]
        )
    }
    // end
}

struct SubtitledDate: SharedForm {
    // snippet 48: mechanical: shared, civil(CivilDate.today())
    @Shared private var date = CivilDate.today()

    var body: some View {
        DatePicker(selection: $date) {
            Text("Start Date")
            Text("Select the starting date for the event")
        }
    }
    // end
}

struct DateRange: SharedForm {
    // snippet 60: mechanical: shared, civil(CivilDateTime("2021-06-01T12:00")!)
    @Shared private var date = CivilDateTime("2021-06-01T12:00")!
    let dateRange: ClosedRange<CivilDateTime> = {
        let calendar = Calendar.current
        let startComponents = DateComponents(year: 2021, month: 1, day: 1)
        let endComponents = DateComponents(
            year: 2021, month: 12, day: 31, hour: 23, minute: 59, second: 59)
        return CivilDateTime(calendar.date(from: startComponents)!)!...CivilDateTime(
            calendar.date(from: endComponents)!)!
    }()

    var body: some View {
        DatePicker(
            "Start Date",
            selection: $date,
            in: dateRange,
            displayedComponents: [.date, .hourAndMinute]
        )
    }
    // end
}

struct GraphicalDate: SharedForm {
    // snippet 61: mechanical: shared, civil(CivilDate.today())
    @Shared private var date = CivilDate.today()

    var body: some View {
        DatePicker(
            "Start Date",
            selection: $date,
            displayedComponents: [.date]
        )
        .datePickerStyle(.graphical)
    }
    // end
}
