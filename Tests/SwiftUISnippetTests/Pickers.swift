// The snippets on pickers.

import Foundation
import PickerSync

// snippet 2: mechanical: tags(Flavor), shared
enum Flavor: String, CaseIterable, Identifiable, PickerTag {
    case chocolate, vanilla, strawberry
    var id: Self { self }
}
// end

// snippet 6: mechanical: tags(Topping), shared
enum Topping: String, CaseIterable, Identifiable, PickerTag {
    case nuts, cookies, blueberries
    var id: Self { self }
}

extension Flavor {
    var suggestedTopping: Topping {
        switch self {
        case .chocolate: return .nuts
        case .vanilla: return .cookies
        case .strawberry: return .blueberries
        }
    }
}
// end

struct FlavorList: SharedForm {
    // snippet 2 continues
    @Shared private var selectedFlavor: Flavor = .chocolate
    // end

    var body: some View {
        // snippet 3: unchanged
        List {
            Picker("Flavor", selection: $selectedFlavor) {
                Text("Chocolate").tag(Flavor.chocolate)
                Text("Vanilla").tag(Flavor.vanilla)
                Text("Strawberry").tag(Flavor.strawberry)
            }
        }
        // end
    }
}

struct SubtitledList: SharedForm {
    @Shared private var selectedFlavor: Flavor = .chocolate

    var body: some View {
        // snippet 4: unchanged
        List {
            Picker(selection: $selectedFlavor) {
                Text("Chocolate").tag(Flavor.chocolate)
                Text("Vanilla").tag(Flavor.vanilla)
                Text("Strawberry").tag(Flavor.strawberry)
            } label: {
                Text("Flavor")
                Text("Choose your favorite flavor")
            }
        }
        // end
    }
}

struct EachFlavor: SharedForm {
    @Shared private var selectedFlavor: Flavor = .chocolate

    var body: some View {
        // snippet 5: unchanged
        Picker("Flavor", selection: $selectedFlavor) {
            ForEach(Flavor.allCases) { flavor in
                Text(flavor.rawValue.capitalized)
            }
        }
        // end
    }
}

struct SuggestedTopping: SharedForm {
    // snippet 6 continues
    @Shared private var suggestedTopping: Topping = .nuts
    // end

    var body: some View {
        // snippet 7: mechanical: follow(suggestedTopping)
        List {
            Picker("Flavor", selection: $suggestedTopping) {
                ForEach(Flavor.allCases) { flavor in
                    Text(flavor.rawValue.capitalized)
                        .tag(flavor.suggestedTopping)
                }
            }
            HStack {
                Text("Suggested Topping")
                Spacer()
                Text("\($suggestedTopping)")
                    .foregroundStyle(.secondary)
            }
        }
        // end
    }
}

struct SegmentedPickers: SharedForm {
    @Shared private var selectedFlavor: Flavor = .chocolate
    @Shared private var selectedTopping: Topping = .nuts

    var body: some View {
        // snippet 8: unchanged
        VStack {
            Picker("Flavor", selection: $selectedFlavor) {
                ForEach(Flavor.allCases) { flavor in
                    Text(flavor.rawValue.capitalized)
                }
            }
            Picker("Topping", selection: $selectedTopping) {
                ForEach(Topping.allCases) { topping in
                    Text(topping.rawValue.capitalized)
                }
            }
        }
        .pickerStyle(.segmented)
        // end
    }
}

struct AutomaticFruit: SharedForm {
    @Shared private var selection = 0

    var body: some View {
        // snippet 87: unchanged
        Picker("选择", selection: $selection) {
            Text("Apple").tag(0)
            Text("Banana").tag(1)
            Text("Orange").tag(2)
        }
        // end
    }
}

struct InlineFruit: SharedForm {
    @Shared private var selection = 0

    var body: some View {
        // snippet 88: unchanged
        Picker("选择", selection: $selection) {
            Text("Apple").tag(0)
            Text("Banana").tag(1)
            Text("Orange").tag(2)
        }.pickerStyle(.inline)
        // end
    }
}

struct MenuFruit: SharedForm {
    @Shared private var selection = 0

    var body: some View {
        // snippet 89: unchanged
        Picker("选择", selection: $selection) {
            Text("Apple").tag(0)
            Text("Banana").tag(1)
            Text("Orange").tag(2)
        }.pickerStyle(.menu)
        // end
    }
}

struct LinkedFruit: SharedForm {
    @Shared private var selection = 0

    var body: some View {
        // snippet 90: unchanged
        NavigationStack {
            Picker("选择", selection: $selection) {
                Text("Apple").tag(0)
                Text("Banana").tag(1)
                Text("Orange").tag(2)
            }.pickerStyle(.navigationLink)
                .padding()
        }
        // end
    }
}
