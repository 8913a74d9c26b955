// Whatever is applied, and whatever is sent to what was applied: refused or taken, never a trap.

import SyncCore
import Testing

@Suite("Hostile forms")
struct HostileFormTests {
    @Test("mutated forms are refused with issues or work, and no edit of them traps")
    func mutated() throws {
        let seed = FormRandom.seed
        var random = FormRandom(seed: seed)
        let forms = try [
            ExampleForms.controls, ExampleForms.deploy, ExampleForms.iceCream, ExampleForms.income,
            #"{"form": "w", "fields": [{"id": "x", \#(WheelsTests.places)}]}"#,
        ].map { try json($0) }
        var taken = 0
        for round in 0..<1500 {
            var mutant = try #require(forms.randomElement(using: &random))
            for _ in 0..<Int.random(in: 1...3, using: &random) { mutate(&mutant, &random) }
            do {
                let form = try FormDefinition.parse(
                    mutant, limits: FormLimits(), compile: compilePattern)
                taken += 1
                edit(form, &random)
                let plan = FormMigration.plan(
                    from: form, to: form,
                    values: { form.controls[$0].defaultValue })
                #expect(plan.added.isEmpty && plan.removed.isEmpty, "seed \(seed), round \(round)")
                #expect(
                    plan.invalid.isEmpty && plan.reset.isEmpty,
                    "a default outside its domain: seed \(seed), round \(round)")
            } catch {
                #expect(!error.issues.isEmpty, "seed \(seed), round \(round)")
            }
        }
        #expect(taken > 100, "too few mutants are forms: \(taken)")
    }

    /// Tries every kind of edit on every control; refusals are fine.
    private func edit(_ form: FormDefinition, _ random: inout FormRandom) {
        var stored: [Int: JSON] = [:]
        for control in form.controls.indices {
            let values = { (index: Int) in stored[index] ?? form.controls[index].defaultValue }
            let tag = anything(&random)
            let actions: [Change.Action] = [
                .value(anything(&random)), .value(values(control)), .toggle, .press, .reset,
                .increment(tag.numberValue ?? DecimalNumber(1)), .move(.next, wraps: true),
                .move(.previous, wraps: false), .add([tag, tag]), .remove([tag]),
            ]
            for action in actions {
                for edit in (try? form.edits(for: action, control: control, values: values)) ?? [] {
                    if case .set(let value) = edit.edit { stored[edit.target] = value }
                }
            }
            if Bool.random(using: &random) { stored[control] = anything(&random) }
            _ = form.displayText(of: control, values: values)
            _ = form.isEnabled(control, values: values) && form.isVisible(control, values: values)
            _ = form.expectedDescription(of: control)
        }
    }

    private func mutate(_ json: inout JSON, _ random: inout FormRandom) {
        switch json {
        case .array(var elements)
        where !elements.isEmpty && Int.random(in: 0..<8, using: &random) > 0:
            let index = elements.indices.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<10, using: &random) {
            case 0: elements.remove(at: index)
            case 1: elements.append(elements[index])
            default: mutate(&elements[index], &random)
            }
            json = .array(elements)
        case .object(var object) where !object.isEmpty && Int.random(in: 0..<8, using: &random) > 0:
            let name = object.members.randomElement(using: &random)?.name ?? ""
            switch Int.random(in: 0..<10, using: &random) {
            case 0: object[name] = nil
            case 1: object[Self.names.randomElement(using: &random) ?? ""] = anything(&random)
            default:
                var value = object[name] ?? .null
                mutate(&value, &random)
                object[name] = value
            }
            json = .object(object)
        default: json = anything(&random)
        }
    }

    private static let names = [
        "min", "max", "step", "binds", "sources", "default", "options", "visibleWhen", "multiple",
        "optional", "components", "was", "required", "minuteInterval", "maxLength", "mode",
    ]

    private func anything(_ random: inout FormRandom) -> JSON {
        let choices: [JSON] = [
            .null, true, false, 0, 1, -1, 5, 300, "", "a", "chocolate", "flavor", "kitchen",
            "apple",
            "complete", "${flavor}", "${", "2026-11-21", "14:30", "\u{1B}[2J", "e\u{301}", [],
            ["a", "a"], ["kitchen", "hall"], ["name": "interest"], ["tax": "fixed"],
            ["flavor": "vanilla"], ["any": [["flavor": ["not": "a"]]]],
            .number(DecimalNumber(.max)), .number(DecimalNumber(.min)),
            DecimalNumber("0.000000000000001").map { .number($0) } ?? .null,
            DecimalNumber("1e15").map { .number($0) } ?? .null, .object(JSONObject()),
        ]
        return choices.randomElement(using: &random) ?? .null
    }
}
