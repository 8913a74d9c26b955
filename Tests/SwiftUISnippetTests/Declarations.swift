// What the documents declare without an example: each declaration is used here with its labels.

import Foundation
import PickerSync
import PickerSyncFoundation

struct Declared: SharedForm {
    @Shared private var flavor = Flavor.vanilla
    @Shared private var text = ""
    @Shared private var secret: Secret = ""
    @Shared private var isOn = true
    @Shared("amount") private var value = 50.0
    @Shared private var count = 1
    @Shared private var level = 0.4
    @Shared private var date = CivilDate.today()

    var body: some View {
        Group {
            // snippet 1: mechanical: declaration
            Picker("Flavor", selection: $flavor) { ForEach(Flavor.allCases) { Text($0.rawValue) } }
            // end
            // snippet 31: mechanical: declaration
            Button {
            } label: {
                Text("Go")
            }
            // end
            // snippet 34: mechanical: declaration
            SecureField(text: $secret) { Text("Secret") }
            // end
            // snippet 37: mechanical: declaration
            Toggle(isOn: $isOn) { Text("On") }
            // end
            // snippet 43: mechanical: declaration
            Stepper(value: $count) { Text("Count") }
            // end
            // snippet 46: mechanical: declaration
            DatePicker(selection: $date) { Text("Day") }
            // end
            // snippet 49: mechanical: declaration
            Gauge(value: $level) {
                Text("Level")
            } currentValueLabel: {
                Text("\($level)")
            } minimumValueLabel: {
                Text("0")
            } maximumValueLabel: {
                Text("1")
            }
            // end
        }
        Group {
            // snippet 40: mechanical: declaration
            Slider(value: $value, in: 0...100) { Text("Value") }
            // end
            // snippet 66: mechanical: declaration
            Slider(value: $value, in: 0...100, onEditingChanged: { _ in })
            // end
            // snippet 67: mechanical: declaration
            Slider(value: $value, in: 0...100, step: 5, onEditingChanged: { _ in })
            // end
            // snippet 68: mechanical: declaration
            Slider(
                value: $value, in: 0...100, label: { Text("Value") }, onEditingChanged: { _ in })
            // end
            // snippet 69: mechanical: declaration
            Slider(
                value: $value, in: 0...100, step: 5, label: { Text("Value") },
                onEditingChanged: { _ in })
            // end
            // snippet 70: mechanical: declaration
            Slider(
                value: $value, in: 0...100, label: { Text("Value") },
                minimumValueLabel: { Text("0") }, maximumValueLabel: { Text("100") },
                onEditingChanged: { _ in })
            // end
            // snippet 71: mechanical: declaration
            Slider(
                value: $value, in: 0...100, step: 5, label: { Text("Value") },
                minimumValueLabel: { Text("0") }, maximumValueLabel: { Text("100") },
                onEditingChanged: { _ in })
            // end
        }
        Group {
            // snippet 64: mechanical: declaration
            SecureField(text: $secret, prompt: Text("Required"), label: { Text("Secret") })
            // end
            // snippet 65: mechanical: declaration
            Toggle(isOn: $isOn, label: { Text("On") })
            // end
            // snippet 75: mechanical: declaration
            Stepper(
                value: $count, step: 1, label: { Text("Count") }, onEditingChanged: { _ in })
            // end
            // snippet 76: changed: a format is a text that names the value
            Stepper(value: $count, step: 1, label: { Text("\($count) pieces") })
            // end
            // snippet 77: changed: a format is a text that names the value
            Stepper(value: $count, in: 0...9, step: 1, label: { Text("\($count) pieces") })
            // end
            // snippet 78: mechanical: declaration
            Stepper(
                label: { Text("Steps") }, onIncrement: {}, onDecrement: {},
                onEditingChanged: { _ in })
            // end
            // snippet 79: mechanical: declaration
            DatePicker(
                selection: $date, displayedComponents: DatePicker<CivilDate>.Components.date,
                label: { Text("Day") })
            // end
        }
    }
}

/// Initializers that SwiftUI's pages call deprecated are deprecated here as well.
@available(*, deprecated)
struct OlderSliders: SharedForm {
    @Shared("amount") private var value = 50.0

    var body: some View {
        // snippet 72: mechanical: declaration
        Slider(value: $value, in: 0...100, onEditingChanged: { _ in }, label: { Text("Value") })
        // end
        // snippet 73: mechanical: declaration
        Slider(
            value: $value, in: 0...100, step: 5, onEditingChanged: { _ in },
            label: { Text("Value") })
        // end
        // snippet 74: mechanical: declaration
        Slider(
            value: $value, in: 0...100, onEditingChanged: { _ in },
            minimumValueLabel: Text("0"), maximumValueLabel: Text("100"),
            label: { Text("Value") })
        // end
    }
}

/// Declarations of styles, and of what a style is told.
private enum Styles {
    // snippet 9: mechanical: declaration
    static let palette: PalettePickerStyle = .palette
    // end
    // snippet 93: mechanical: declaration
    static let radioGroup: RadioGroupPickerStyle = .radioGroup
    // end
    // snippet 82: mechanical: declaration
    static func role(of configuration: ButtonStyleConfiguration) -> ButtonRole? {
        configuration.role
    }
    // end
    // snippet 80: mechanical: declaration
    static func buttonStyle<S>(_ style: S) -> some View where S: ButtonStyle {
        EmptyView().buttonStyle(style)
    }
    // end
    // snippet 85: mechanical: declaration
    static func buttonStyle<S>(primitive style: S) -> some View where S: PrimitiveButtonStyle {
        EmptyView().buttonStyle(style)
    }
    // end
    // snippet 86: mechanical: declaration
    static func pickerStyle<S>(_ style: S) -> some View where S: PickerStyle {
        EmptyView().pickerStyle(style)
    }
    // end
}

/// UIKit's requirements, each as a type meets it.
private final class Rows: PickerViewDataSource, PickerViewDelegate {
    // snippet 14: mechanical: declaration
    func numberOfComponents(in pickerView: PickerView) -> Int { 1 }
    // end
    // snippet 15: mechanical: declaration
    func pickerView(_ pickerView: PickerView, numberOfRowsInComponent component: Int) -> Int { 1 }
    // end
    // snippet 17: mechanical: declaration
    func pickerView(_ pickerView: PickerView, rowHeightForComponent component: Int) -> Double { 1 }
    // end
    // snippet 18: mechanical: declaration
    func pickerView(_ pickerView: PickerView, widthForComponent component: Int) -> Int? { 12 }
    // end
    // snippet 19: mechanical: declaration
    func pickerView(
        _ pickerView: PickerView, titleForRow row: Int, forComponent component: Int
    ) -> String? { "one" }
    // end
    // snippet 22: mechanical: declaration
    func pickerView(_ pickerView: PickerView, didSelectRow row: Int, inComponent component: Int) {}
    // end
    // snippet 13: mechanical: declaration
    var pickerView: PickerView { PickerView("Rows", id: "rows", dataSource: self, delegate: self) }
    // end
    // snippet 16: mechanical: declaration
    var delegate: any PickerViewDelegate { self }
    // end
}
