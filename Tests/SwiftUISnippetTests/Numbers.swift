// The snippets on sliders, steppers and gauges.

import Foundation
import PickerSync

/// What the snippets keep in a second state: whether somebody has the slider in their hand.
private func editing(_ isEditing: Bool) {}

struct SpeedSlider: SharedForm {
    // snippet 41: changed: no colour follows the editing; every terminal shows who edits
    @Shared private var speed = 50.0

    var body: some View {
        VStack {
            Slider(
                value: $speed,
                in: 0...100,
                onEditingChanged: { isEditing in
                    editing(isEditing)
                }
            )
            Text("\($speed)")
        }
    }
    // end
}

struct SpeedSteps: SharedForm {
    // snippet 42: changed: no colour follows the editing; every terminal shows who edits
    @Shared private var speed = 50.0

    var body: some View {
        Slider(
            value: $speed,
            in: 0...100,
            step: 5
        ) {
            Text("Speed")
        } minimumValueLabel: {
            Text("0")
        } maximumValueLabel: {
            Text("100")
        } onEditingChanged: { isEditing in
            editing(isEditing)
        }
        Text("\($speed)")
    }
    // end
}

// snippet 44: changed: the colour is a picker's, since a label names values and computes none
enum StepColor: String, CaseIterable, Identifiable, PickerTag {
    case orange, red, gray, blue, green, purple, pink
    var id: Self { self }
}

struct ColorStepper: SharedForm {
    @Shared private var color = StepColor.orange

    var body: some View {
        Picker("Color", selection: $color) {
            ForEach(StepColor.allCases) { Text($0.rawValue) }
        }
        Stepper {
            Text("Color: \($color)")
        } onIncrement: {
            $color.next(wraps: true)
        } onDecrement: {
            $color.previous(wraps: true)
        }
        .padding(5)
    }
}
// end

// snippet 45: mechanical: form, shared, id(value), first(value), follow(value)
struct StepperView: SharedForm {
    @Shared("amount") private var value = 1
    let step = 5
    let range = 1...50

    var body: some View {
        Stepper(
            value: $value,
            in: range,
            step: step
        ) {
            Text(
                "Current: \($value) in \(range.description) "
                    + "stepping by \(step)")
        }
        .padding(10)
    }
}
// end

// snippet 50: mechanical: form, shared, follow(batteryLevel)
struct SimpleGauge: SharedForm {
    @Shared private var batteryLevel = 0.4

    var body: some View {
        Gauge(value: $batteryLevel) {
            Text("Battery Level")
        }
    }
}
// end

// snippet 51: mechanical: form, constant(minValue), constant(maxValue), shared, follow(current)
struct LabeledGauge: SharedForm {
    @Shared private var current = 67.0
    private let minValue = 0.0
    private let maxValue = 170.0

    var body: some View {
        Gauge(value: $current, in: minValue...maxValue) {
            Text("BPM")
        } currentValueLabel: {
            Text("\($current)")
        } minimumValueLabel: {
            Text("\(Int(minValue))")
        } maximumValueLabel: {
            Text("\(Int(maxValue))")
        }
    }
}
// end

enum Circular {
    // snippet 62: mechanical: form, constant(minValue), constant(maxValue), shared, follow(current)
    struct LabeledGauge: SharedForm {
        @Shared private var current = 67.0
        private let minValue = 0.0
        private let maxValue = 170.0

        var body: some View {
            Gauge(value: $current, in: minValue...maxValue) {
                Text("BPM")
            } currentValueLabel: {
                Text("\($current)")
            } minimumValueLabel: {
                Text("\(Int(minValue))")
            } maximumValueLabel: {
                Text("\(Int(maxValue))")
            }
            .gaugeStyle(.circular)
        }
    }
    // end
}

// snippet 63: mechanical: form, constant(minValue), constant(maxValue), shared, follow(current), completed
struct StyledGauge: SharedForm {
    @Shared private var current = 67.0
    private let minValue = 50.0
    private let maxValue = 170.0

    var body: some View {
        Gauge(value: $current, in: minValue...maxValue) {
            Image(systemName: "heart.fill")
                .foregroundColor(.red)
        } currentValueLabel: {
            Text("\($current)")
                .foregroundColor(Color.green)
        } minimumValueLabel: {
            Text("\(Int(minValue))")
                .foregroundColor(Color.green)
        } maximumValueLabel: {
            Text("\(Int(maxValue))")
                .foregroundColor(Color.red)
        }
    }
}
// end
