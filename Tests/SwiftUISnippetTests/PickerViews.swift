// The snippets on picker views of UIKit's kind.

import Foundation
import PickerSync
import PickerSyncFoundation

// snippet 24: unchanged
enum Income: Int, CaseIterable {
    case source
    case type
}

enum IncomeTax: String {
    case fixed
    case variable
}

extension IncomeTax: CustomStringConvertible, CaseIterable {
    var description: String {
        rawValue.capitalized
    }
}

enum IncomeSource: String {
    case salary
    case interest
    case dividend
    case capitalGains = "Capital Gains"
    case royalty
    case rental
}

extension IncomeSource: CustomStringConvertible, CaseIterable {
    var description: String {
        rawValue.capitalized
    }
}

enum IncomeType: String {
    case primary
    case secondary
    case passive
}

extension IncomeType: CustomStringConvertible, CaseIterable {
    var description: String {
        rawValue.capitalized
    }
}
// end

/// What the snippets call the components of the picker of sources, and never declare.
enum IncomeSourcePicker: Int {
    case sourceName
    case taxType
}

// snippet 25: changed: a picker view has its title, id and data source from the start; no layout
/// A shared property is never replaced and safe from any thread, so it is unchecked.
final class IncomeViewController: SharedForm, @unchecked Sendable {
    @Shared var incomeMonth = CivilDate.today()
    @Shared var incomeSourceLabel = ""
    @Shared var incomeTypeLabel = ""
    @Shared var incomeDateLabel = ""

    private lazy var incomeSourcePickerView = PickerView(
        "Source", id: "source", tag: Income.source.rawValue, dataSource: self, delegate: self)
    private lazy var incomeTypePickerView = PickerView(
        "Type", id: "type", tag: Income.type.rawValue, dataSource: self, delegate: self)
    // end

    // snippet 26: unchanged
    private let sources = IncomeSource.allCases
    private let types = IncomeType.allCases
    private let taxes = IncomeTax.allCases
    // end

    // snippet 28: changed: the body declares the order, and what listens to a date
    var body: some View {
        incomeTypePickerView
        TextField("Type chosen", text: $incomeTypeLabel).readOnly()
        incomeSourcePickerView
        TextField("Source chosen", text: $incomeSourceLabel).readOnly()
        DatePicker("Date", selection: $incomeMonth)
            .datePickerStyle(.wheel)
            .onChange(of: $incomeMonth) { self.incomeDateLabel = "\(self.incomeMonth)" }
        TextField("Date chosen", text: $incomeDateLabel).readOnly()
    }
    // end
}

// snippet 29: mechanical: kit
// MARK: - UIPickerViewDataSource
extension IncomeViewController: PickerViewDataSource {
    func numberOfComponents(in pickerView: PickerView) -> Int {
        // 1
        let incomePicker = Income(rawValue: pickerView.tag)

        // 2
        switch incomePicker {
        case .type:
            return 1
        case .source:
            return 2
        default:
            return 0
        }
    }

    func pickerView(_ pickerView: PickerView, numberOfRowsInComponent component: Int) -> Int {
        let incomePicker = Income(rawValue: pickerView.tag)

        // 3
        switch incomePicker {
        case .type:
            return types.count
        case .source:
            // 4
            let sourceComponent = IncomeSourcePicker(rawValue: component)

            // 5
            switch sourceComponent {
            case .sourceName:
                return sources.count
            case .taxType:
                return taxes.count
            default:
                return 0
            }
        default:
            return 0
        }
    }
}
// end

// snippet 30: mechanical: kit
// MARK: - UIPickerViewDelegate
extension IncomeViewController: PickerViewDelegate {
    func pickerView(
        _ pickerView: PickerView, titleForRow row: Int, forComponent component: Int
    ) -> String? {
        // 1
        let incomePicker = Income(rawValue: pickerView.tag)

        switch incomePicker {
        case .type:
            return types[row].description
        case .source:
            let sourceComponent = IncomeSourcePicker(rawValue: component)

            switch sourceComponent {
            case .sourceName:
                return sources[row].description
            case .taxType:
                return taxes[row].description
            default:
                return nil
            }
        default:
            return nil
        }
    }

    func pickerView(_ pickerView: PickerView, didSelectRow row: Int, inComponent component: Int) {
        let incomePicker = Income(rawValue: pickerView.tag)

        switch incomePicker {
        case .type:
            incomeTypeLabel = "Income type is \(types[row].description)."
        case .source:
            let sourceComponent = IncomeSourcePicker(rawValue: component)

            // 2
            switch sourceComponent {
            case .sourceName:
                incomeSourceLabel = "Income source is \(sources[row].description)."
            case .taxType:
                incomeSourceLabel = "\(taxes[row].description) taxes."
            default: ()
            }
        default: ()
        }
    }
}
// end

struct WatchedDate: SharedForm {
    @Shared private var date = CivilDate.today()
    private func onDateValueChanged() {}

    var body: some View {
        DatePicker("Date", selection: $date)
            // snippet 23: changed: a listener is a modifier
            .onChange(of: $date) { onDateValueChanged() }
        // end
    }
}

// snippet 20: cannot: rows are strings, which every terminal shows in its own style
// end
// snippet 21: cannot: a row is drawn by each terminal and not by a view of this program
// end
// snippet 27: cannot: each terminal lays a form out, so that there are no constraints
// end
