// Declarations as people who know SwiftUI write them, for the tests of this folder.

import Foundation
import PickerSync

enum Flavor: String, CaseIterable, Identifiable, PickerTag {
    case chocolate, vanilla, strawberry
    var id: Self { self }
}

enum Topping: String, CaseIterable, Identifiable, PickerTag {
    case nuts, cookies, blueberries
    var id: Self { self }
}

extension Flavor {
    var suggestedTopping: Topping {
        switch self {
        case .chocolate: .nuts
        case .vanilla: .cookies
        case .strawberry: .blueberries
        }
    }
}

/// An enum without a raw value: its tags are the names of the cases.
enum Reaction: CaseIterable, Identifiable, PickerTag {
    case thumbsup, thumbsdown, heart, questionMark
    var id: Self { self }
}

/// An enum of numbers: its tags are those.
enum Size: Int, CaseIterable, PickerTag {
    case small = 1
    case large = 10
}

enum IncomeSource: String, CaseIterable, PickerTag {
    case salary, interest, dividend
    case capitalGains = "Capital Gains"
}

enum IncomeTax: String, CaseIterable, PickerTag {
    case fixed, variable
}

struct IncomeOrigin: WheelSelection {
    var name = IncomeSource.salary
    var tax = IncomeTax.fixed
    static var wheels: [WheelKey<Self>] { [.init("name", \.name), .init("tax", \.tax)] }
}

/// The order that Examples/forms/ice-cream.yaml is, declared.
struct IceCream: SharedForm {
    @Shared var flavor = Flavor.chocolate
    @Shared var topping = Topping.nuts
    @Shared var scoops = 2
    @Shared var cone = true

    var body: some View {
        Form("Ice cream") {
            Section("Order") {
                Picker(selection: $flavor) {
                    Text("Chocolate").tag(Flavor.chocolate)
                    Text("Vanilla").tag(Flavor.vanilla)
                    Text("Strawberry").tag(Flavor.strawberry)
                } label: {
                    Text("Flavor")
                    Text("Choose your favorite flavor")
                }
                Picker("Topping", selection: $topping) {
                    ForEach(Topping.allCases) { topping in
                        Text(topping.rawValue.capitalized)
                    }
                }
                Picker("Suggested with", selection: $topping) {
                    ForEach(Flavor.allCases) { flavor in
                        Text(flavor.rawValue.capitalized)
                            .tag(flavor.suggestedTopping)
                    }
                }
                .id("suggestion")
                Text("\($flavor) with \($topping)").id("summary")
            }
            .pickerStyle(.segmented)
            Section("Serving") {
                Stepper("Scoops", value: $scoops, in: 1...5)
                Toggle(isOn: $cone) {
                    Text("In a cone")
                    Text("A cup otherwise")
                }
            }
        }
    }
}

/// The form that Examples/forms/income.yaml is, declared.
struct Income: SharedForm {
    enum Kind: String, CaseIterable, PickerTag {
        case primary, secondary, passive
    }

    @Shared var type = Kind.primary
    @Shared var source: IncomeOrigin
    @Shared var received = CivilDate(year: 2026, month: 11, day: 21)

    var body: some View {
        Form("Income") {
            Picker("Type", selection: $type) {
                ForEach(Kind.self) { Text($0.rawValue.capitalized) }
            }
            .pickerStyle(.wheel)
            Wheels("Source", selection: $source) {
                Wheel("Source", \.name, width: 16) {
                    ForEach(IncomeSource.self) { Text($0.rawValue.capitalized) }
                }
                Wheel("Tax", \.tax) { ForEach(IncomeTax.self) { Text($0.rawValue.capitalized) } }
                    .rows([.fixed], when: \.name, is: IncomeSource.salary)
            }
            DatePicker(
                "Received on", selection: $received,
                in: CivilDate("2020-01-01")!...CivilDate("2030-12-31")!,
                displayedComponents: [.date]
            )
            .datePickerStyle(.wheel)
            Text(
                "Income type is \($type), from \($source.name) (\($source.tax) tax), on \($received)."
            )
            .id("result")
        }
    }
}

/// One of every control and modifier.
struct Everything: SharedForm {
    @Shared var reaction: Reaction?
    @Shared var flag: String = "red"
    @Shared var size = Size.small
    @Shared var days: Set<String> = ["mon"]
    @Shared var first = Flavor.vanilla
    @Shared var second = Flavor.vanilla
    @Shared var kitchen = true
    @Shared var hall = false
    @Shared var speed = 50.0
    @Shared var fine = DecimalNumber("0.1")!
    @Shared var count = 1
    @Shared var start = CivilDate(year: 2021, month: 6, day: 15)!
    @Shared var alarm = CivilTime(hour: 7, minute: 30)!
    @Shared var window: CivilDateTime?
    @Shared var month = YearMonth("2026-11")!
    @Shared var egg = Duration.seconds(300)
    @Shared var username = ""
    @Shared var password: Secret
    @Shared var battery = 0.4
    @Shared var maintenance = false
    @Shared("roll-back") var rollBack: Presses

    var body: some View {
        Form("Everything", subtitle: "of the library") {
            Section("Pickers") {
                Picker("Reaction", selection: $reaction) {
                    Label("Thumbs up", systemImage: "hand.thumbsup").tag(Reaction.thumbsup)
                    Label("Thumbs down", systemImage: "hand.thumbsdown").tag(Reaction.thumbsdown)
                    Label("Like", systemImage: "heart").tag(Reaction.heart)
                    Label("Question mark", systemImage: "questionmark").tag(Reaction.questionMark)
                }
                .pickerStyle(.palette)
                Picker("Flags", selection: $flag) {
                    ForEach(["red", "green", "blue"], id: \.self) { flag in
                        Label(flag, systemImage: "flag").tint(flag == "red" ? .red : .blue)
                    }
                }
                .pickerStyle(.palette)
                .paletteSelectionEffect(.symbolVariant(.slash))
                Picker("Size", systemImage: "star", selection: $size) {
                    Text("S").tag(Size.small)
                    Text("L").tag(Size.large).disabled()
                } currentValueLabel: {
                    Text("size \($size)")
                }
                .pickerStyle(.radioGroup)
                .horizontalRadioGroupLayout()
                Picker("Days", selection: $days) {
                    Section("Week") { ForEach(["mon", "tue"], id: \.self) { Text($0) } }
                    Section("End of it") { Text("Saturday").tag("sat") }
                }
                Picker("First", selection: $first) { ForEach(Flavor.self) { Text($0.rawValue) } }
                    .pickerStyle(.wheel).defaultWheelPickerItemHeight(2)
                Picker("Second", selection: $second) { ForEach(Flavor.self) { Text($0.rawValue) } }
                Picker("Both", sources: [$first, $second], selection: \.self) {
                    ForEach(Flavor.self) { Text($0.rawValue) }
                }
            }
            Section {
                Toggle("Kitchen", systemImage: "bolt", isOn: $kitchen).toggleStyle(.switch)
                Toggle("Hall", isOn: $hall)
                Toggle("All lights", sources: [$kitchen, $hall], isOn: \.self)
                Slider(value: $speed, in: 0...100, step: 5) {
                    Text("Speed")
                } minimumValueLabel: {
                    Text("0")
                } maximumValueLabel: {
                    Text("100")
                }
                .disabled($maintenance == true)
                Slider(
                    "Fine", value: $fine, in: DecimalNumber("0")!...DecimalNumber("1")!,
                    step: DecimalNumber("0.1")!)
                Stepper("Count", value: $count, in: 1...50, step: 5).wraps()
                    .format(Text("\($count) of 50"))
            } header: {
                Text("Values")
            } footer: {
                Text("in decimals")
            }
            Section("Dates", isExpanded: false) {
                DatePicker(
                    "Start Date", selection: $start,
                    in: CivilDate("2021-01-01")!...CivilDate("2021-12-31")!,
                    displayedComponents: [.date]
                )
                .datePickerStyle(.graphical)
                DatePicker("Alarm", selection: $alarm).minuteInterval(5)
                DatePicker(
                    "Window", selection: $window, displayedComponents: [.date, .hourAndMinute])
                DatePicker("Month", selection: $month)
                DatePicker("Egg timer", selection: $egg)
            }
            TextField("Username", text: $username, prompt: Text("Required")).maxLength(32)
                .pattern("[a-z]*").required()
            SecureField("Password", text: $password, prompt: Text("Required"))
            Gauge(value: $battery, in: 0...1) {
                Text("Battery Level")
            } currentValueLabel: {
                Text("\($battery)")
            } minimumValueLabel: {
                Text("empty")
            } maximumValueLabel: {
                Text("full")
            }
            .gaugeStyle(.circular)
            Toggle("Maintenance", isOn: $maintenance).onConflict(.trueWins)
            Button("Roll back", role: .destructive, presses: $rollBack).confirm("Really?")
                .visible(when: $maintenance == true && .complete)
            LabeledContent("Battery", value: $battery)
            LabeledContent("By hand", value: "${not a name}")
        }
        .access(.write, "user:root", "owner")
    }
}
