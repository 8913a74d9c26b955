import SyncCore
import Testing

@testable import TerminalUI

/// A form with a control of each type, shown from its definition and its defaults alone.
@Suite struct FormControlTests {
    private static let definition = """
        {"form": "all", "styles": {"picker": "menu"}, "fields": [
        {"id": "flavor", "type": "picker", "label": "Flavor", "optional": true,
         "options": ["chocolate", {"section": "Red", "options": ["strawberry", "cherry"]}]},
        {"id": "source", "type": "wheels", "label": "Source",
         "components": [{"id": "name", "options": ["salary", "rental"]},
                        {"id": "tax", "options": ["fixed", "variable"]}],
         "optionsFor": [{"component": "tax", "when": {"name": "salary"}, "options": ["fixed"]}]},
        {"id": "traffic", "type": "slider", "label": "Traffic", "min": 0, "max": 100, "step": 25,
         "ticks": true, "default": 50},
        {"id": "count", "type": "stepper", "label": "Count", "min": 0, "max": 3, "default": 3},
        {"id": "start", "type": "date", "mode": "time", "label": "Start", "default": "07:30"},
        {"id": "load", "type": "gauge", "label": "Load", "min": 0, "max": 10, "default": 4},
        {"id": "go", "type": "button", "label": "Go", "role": "destructive"}
        ]}
        """

    private func form() throws -> FormDefinition {
        try FormDefinition.parse(
            try JSON(parsing: Self.definition), limits: FormLimits(),
            compile: { _ in .success(PatternMatcher { _ in true }) })
    }

    private func view(_ form: FormDefinition, _ id: String) throws -> any ControlView {
        let index = try #require(form.index(of: id))
        let control = form.controls[index]
        let shown = form.shown(index) { form.controls[$0].defaultValue }
        let state = ControlState.of(control, shown, isDisabled: false)
        return form.view(of: index, shown, text: form.text(of: shown, control: index), state) {
            form.text(of: ShownValue($0), control: index)
        }
    }

    @Test(
        "a control of a form shows its value in its form's style",
        arguments: [
            ("flavor", " None  "), ("source", "│▸Salary◂│ │▸Fixed ◂│"), ("traffic", "●"),
            ("count", "[−]   3   [+]"), ("start", "07:30"), ("load", "━━╌"), ("go", "[ ! Go… ]"),
        ])
    func controls(id: String, expected: String) throws {
        let form = try form()
        let index = try #require(form.index(of: id))
        let environment = StyleEnvironment()
            .fittingLabels(columns: form.controls.map { ControlLabel($0).columns }.max() ?? 0)
            .styled(form.controls[index].effectiveStyle, for: form.controls[index].type)
        let block = AnyBlock(try view(form, id).block(in: environment))
        let buffer = Canvas.drawing(block, columns: 80).buffer
        let shown = (0..<buffer.lines).map { buffer.text(ofLine: $0) }.joined(separator: "\n")
        #expect(shown.contains(expected), "\(shown)")
    }

    @Test("a picker that can be empty has its groups where they were, one option later")
    func groups() throws {
        let form = try form()
        let view = try #require(try view(form, "flavor") as? PickerView)
        let configuration = view.configuration
        #expect(
            configuration.options.map(\.label) == ["None", "Chocolate", "Strawberry", "Cherry"])
        #expect(configuration.groups.map(\.range) == [2..<4])
        #expect(configuration.selectedIndex == 0)
    }

    @Test("a stepper stops at its bound; ticks are at the steps")
    func ends() throws {
        let form = try form()
        let stepper = try #require(try view(form, "count") as? StepperView)
        #expect(!stepper.canIncrement && stepper.canDecrement)
        let slider = try #require(try view(form, "traffic") as? SliderView)
        #expect(slider.configuration.ticks == [0, 25, 50, 75, 100].map { DecimalNumber($0) })
    }
}
