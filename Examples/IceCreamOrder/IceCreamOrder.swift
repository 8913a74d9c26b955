// An ice-cream order that everybody at the table fills in, each in their own terminal.
//
// Run it with `swift run IceCreamOrder` and fill it in with `pickerctl open ice-cream-order`. It
// tells what is picked, by whom, and ends when somebody orders.

import PickerSync

enum Flavor: String, CaseIterable, Identifiable, PickerTag {
    case chocolate, vanilla, strawberry
    var id: Self { self }
    var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

enum Topping: String, CaseIterable, Identifiable, PickerTag {
    case nuts, cookies, blueberries
    var id: Self { self }
    var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
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

struct IceCreamOrder: SharedForm {
    @Shared var flavor = Flavor.chocolate
    @Shared var topping = Topping.nuts
    @Shared var scoops = 2
    @Shared var cone = true
    @Shared var orders: Presses

    var body: some View {
        Form("Ice cream") {
            Section("Order") {
                Picker(selection: $flavor) {
                    ForEach(Flavor.allCases) { Text($0.title) }
                } label: {
                    Text("Flavor")
                    Text("Choose your favorite flavor")
                }
                Picker("Topping", selection: $topping) {
                    ForEach(Topping.allCases) { Text($0.title) }
                }
                // A second picker over the same property: toppings by the flavor they go with.
                Picker("Suggested with", selection: $topping) {
                    ForEach(Flavor.allCases) { flavor in
                        Text(flavor.title).tag(flavor.suggestedTopping)
                    }
                }
                LabeledContent("Summary") { Text("\($flavor) with \($topping)") }
            }
            .pickerStyle(.segmented)
            Section("Serving") {
                Stepper("Scoops", value: $scoops, in: 1...5)
                Toggle(isOn: $cone) {
                    Text("In a cone")
                    Text("A cup otherwise")
                }
                Button("Order", presses: $orders)
            }
        }
    }
}

@main
enum Program {
    static func main() async throws {
        let order = IceCreamOrder()
        let client = FormClient(ConnectionOptions(client: "IceCreamOrder"))
        let session = try await client.open(order)
        var changes = session.changes.makeAsyncIterator()
        print("open: \(order.flavor.title) with \(order.topping.title), \(order.scoops) scoops")
        while let change = await changes.next() {
            if let flavor = change[order.$flavor] {
                print("\(author(of: change)) picked \(flavor.title)")
            }
            if let topping = change[order.$topping] {
                print("\(author(of: change)) wants \(topping.title) on it")
            }
            if let scoops = change[order.$scoops] { print("\(scoops) scoops") }
            if change.contains(order.$orders) { break }
        }
        let place = order.cone ? "a cone" : "a cup"
        print(
            "ordered: \(order.scoops) scoops of \(order.flavor.title) "
                + "with \(order.topping.title) in \(place)")
        client.close()
    }

    private static func author(of change: FormChange) -> String {
        change.fields.first?.state.by?.user ?? "somebody"
    }
}
