// Income by wheels, as a UIPickerView shows it: a data source says what the rows are, a delegate is
// told what is selected. One wheel for the type, two for the source and its tax, and a date.
//
// Run it with `swift run IncomeForm` and turn the wheels with `pickerctl open income-form`.

import PickerSync

enum IncomeType: String, CaseIterable {
    case primary, secondary, passive
}

enum IncomeSource: String, CaseIterable {
    case salary, interest, dividend
    case capitalGains = "capital gains"
    case royalty, rental
}

enum IncomeTax: String, CaseIterable {
    case fixed, variable
}

extension RawRepresentable where RawValue == String {
    fileprivate var title: String {
        rawValue.split(separator: " ").map { $0.prefix(1).uppercased() + $0.dropFirst() }
            .joined(separator: " ")
    }
}

/// The rows of the wheels, and what is said when one is selected.
final class Income: PickerViewDataSource, PickerViewDelegate {
    private func rows(_ pickerView: PickerView, _ component: Int) -> [String] {
        switch (pickerView.id, component) {
        case ("type", _): IncomeType.allCases.map(\.title)
        case (_, 0): IncomeSource.allCases.map(\.title)
        // A salary is taxed at a fixed rate; the tax's rows are asked for again when it changes.
        case (_, _) where pickerView.selectedRow(inComponent: 0) == 0: [IncomeTax.fixed.title]
        case (_, _): IncomeTax.allCases.map(\.title)
        }
    }

    func numberOfComponents(in pickerView: PickerView) -> Int {
        pickerView.id == "type" ? 1 : 2
    }

    func pickerView(_ pickerView: PickerView, numberOfRowsInComponent component: Int) -> Int {
        rows(pickerView, component).count
    }

    func pickerView(
        _ pickerView: PickerView, titleForRow row: Int, forComponent component: Int
    ) -> String? {
        rows(pickerView, component)[row]
    }

    func pickerView(_ pickerView: PickerView, idForComponent component: Int) -> String {
        pickerView.id == "type" ? "type" : ["name", "tax"][component]
    }

    func pickerView(_ pickerView: PickerView, didSelectRow row: Int, inComponent component: Int) {
        let title = rows(pickerView, component)[row]
        switch (pickerView.id, component) {
        case ("type", _): print("Income type is \(title).")
        case (_, 0):
            print("Income source is \(title).")
            Task {
                do {
                    try await pickerView.reloadComponent(1)
                    print("\(pickerView.numberOfRows(inComponent: 1)) rows of taxes")
                } catch {
                    print("the taxes stay: \(error)")
                }
            }
        case (_, _): print("\(title) taxes.")
        }
    }
}

struct IncomeForm: SharedForm {
    @Shared var received = CivilDate(year: 2026, month: 11, day: 21)
    @Shared var saves: Presses

    let type: PickerView
    let source: PickerView

    init(_ income: Income) {
        type = PickerView("Type", id: "type", dataSource: income, delegate: income)
        source = PickerView("Source", id: "source", dataSource: income, delegate: income)
    }

    var body: some View {
        Form("Income") {
            type
            source
            DatePicker("Received on", selection: $received, displayedComponents: [.date])
                .datePickerStyle(.wheel)
                .onChange(of: $received) { _, date in
                    if let date { print("Received on \(date).") }
                }
            Button("Save", presses: $saves)
        }
    }
}

@main
enum Program {
    static func main() async throws {
        let income = Income()
        let form = IncomeForm(income)
        let client = FormClient(ConnectionOptions(client: "IncomeForm"))
        let session = try await client.open(form)
        print("open: \(form.type.numberOfRows(inComponent: 0)) types")
        for await change in session.changes where change.contains(form.$saves) { break }
        print("saved")
        client.close()
        // A picker view does not keep its data source alive; the program does.
        withExtendedLifetime(income) {}
    }
}
