// The four example forms, transcribed from YAML.

import SyncCore
import Testing

@Suite("The example forms")
struct ExampleFormTests {
    @Test(
        "each example is taken, all of its controls with it",
        arguments: [
            (ExampleForms.controls, 27), (ExampleForms.deploy, 11), (ExampleForms.iceCream, 6),
            (ExampleForms.income, 4),
        ])
    func taken(text: String, count: Int) throws {
        #expect(try issues(of: text) == [])
        let form = try FormDefinition.parse(
            json(text), limits: FormLimits(), compile: compilePattern)
        #expect(form.controls.count == count)
    }

    @Test("labels show the values of the other controls")
    func labels() throws {
        let iceCream = try FormDefinition.parse(
            json(ExampleForms.iceCream), limits: FormLimits(), compile: compilePattern)
        let order = FormValues(iceCream, ["flavor": "vanilla"])
        let summary = try order.index("summary")
        #expect(iceCream.displayText(of: summary, values: order.value) == "Vanilla with Nuts")

        let income = try FormDefinition.parse(
            json(ExampleForms.income), limits: FormLimits(), compile: compilePattern)
        let values = FormValues(income)
        #expect(
            income.displayText(of: try values.index("result"), values: values.value)
                == "Income type is Primary, from Salary (Fixed tax), on 2026-11-21.")
    }
}

enum ExampleForms {
    static let controls = #"""
        {"form": "controls", "title": "Controls", "sections": [{"title":
        "Picker styles", "fields": [{"id": "automatic", "type": "picker",
        "label": "Automatic", "options": ["apple", "banana", "orange"],
        "default": "apple"}, {"id": "inline", "type": "picker", "label":
        "Inline", "options": ["apple", "banana", "orange"], "default":
        "apple", "style": "inline"}, {"id": "menu", "type": "picker",
        "label": "Menu", "options": ["apple", "banana", "orange"], "default":
        "apple", "style": "menu"}, {"id": "navigation", "type": "picker",
        "label": "Navigation link", "options": ["apple", "banana", "orange"],
        "default": "apple", "style": "navigationLink"}, {"id": "segmented",
        "type": "picker", "label": "Segmented", "options": ["apple",
        "banana", "orange"], "default": "apple", "style": "segmented"},
        {"id": "radio", "type": "picker", "label": "Radio group", "options":
        ["apple", "banana", "orange"], "default": "apple", "style": "radioGroup",
        "layout": "horizontal"}, {"id": "wheel", "type": "picker", "label":
        "Wheel", "options": ["apple", "banana", "orange"], "default":
        "apple", "style": "wheel", "wheelItemHeight": 1}, {"id": "reaction",
        "type": "picker", "style": "palette", "selectionEffect": "automatic",
        "optional": true, "label": "Reaction", "options": [{"tag": "thumbsup",
        "label": "Thumbs up", "symbol": "👍", "symbolName": "thumbs up"},
        {"tag": "thumbsdown", "label": "Thumbs down", "symbol": "👎",
        "symbolName": "thumbs down"}, {"tag": "heart", "label": "Like",
        "symbol": "❤️", "symbolName": "heart"}, {"tag": "questionMark",
        "label": "Question mark", "symbol": "❓", "symbolName": "question mark"}]},
        {"id": "flags", "type": "picker", "style": "palette", "selectionEffect":
        {"symbolVariant": "slash"}, "label": "Flags", "options": [{"tag":
        "red", "label": "Red", "symbol": "⚑", "tint": "red"}, {"tag":
        "green", "label": "Green", "symbol": "⚑", "tint": "green"}, {"tag":
        "blue", "label": "Blue", "symbol": "⚑", "tint": "blue"}], "default":
        "red"}, {"id": "days", "type": "picker", "multiple": true, "label":
        "Days", "options": ["mon", "tue", "wed", "thu", "fri", "sat",
        "sun"], "default": ["mon", "wed"]}]}, {"title": "Collections of bindings",
        "fields": [{"id": "kitchen", "type": "toggle", "label": "Kitchen",
        "default": true}, {"id": "hall", "type": "toggle", "label": "Hall",
        "default": false}, {"id": "allLights", "type": "toggle", "label":
        "All lights", "sources": ["kitchen", "hall"]}, {"id": "allFruit",
        "type": "picker", "label": "All fruit", "sources": ["inline",
        "menu", "segmented"], "options": ["apple", "banana", "orange"]}]},
        {"title": "Values", "fields": [{"id": "vibrate", "type": "toggle",
        "style": "switch", "label": "Vibrate on Ring",
        "subtitle": "Enable vibration when the phone rings",
        "default": false}, {"id": "speed", "type": "slider", "min": 0,
        "max": 100, "step": 5, "minLabel": "0", "maxLabel": "100", "label":
        "Speed", "default": 50}, {"id": "fine", "type": "slider", "min":
        0, "max": 1, "step": 0.1, "label": "Fine", "default": 0.1}, {"id":
        "count", "type": "stepper", "min": 1, "max": 50, "step": 5, "wraps":
        false, "label": "Count", "format": "Current: ${value} in 1...50 stepping by 5",
        "default": 1}, {"id": "start", "type": "date", "mode": "date",
        "min": "2021-01-01", "max": "2021-12-31", "style": "graphical",
        "label": "Start Date", "default": "2021-06-15"}, {"id": "alarm",
        "type": "date", "mode": "time", "style": "wheel", "minuteInterval":
        5, "label": "Alarm", "default": "07:30"}, {"id": "egg", "type":
        "date", "mode": "countdown", "label": "Egg timer", "default":
        300}, {"id": "username", "type": "text", "label": "Username",
        "prompt": "Required", "maxLength": 32, "default": ""}, {"id":
        "password", "type": "secure", "label": "Password", "prompt":
        "Required"}, {"id": "battery", "type": "gauge", "min": 0, "max":
        1, "label": "Battery Level", "default": 0.4}, {"id": "bpm", "type":
        "gauge", "style": "circular", "min": 50, "max": 170, "minLabel":
        "50", "maxLabel": "170", "label": "BPM", "default": 67}, {"id":
        "signIn", "type": "button", "label": "Sign In", "symbol": "↑",
        "symbolName": "arrow up", "enabledWhen": {"username": {"not":
        ""}}}, {"id": "delete", "type": "button", "role": "destructive",
        "label": "Delete"}]}]}
        """#

    static let deploy = #"""
        {"form": "deploy", "title": "Deploy", "access": {"read": ["anyone"],
        "write": ["anyone"], "reveal": ["owner"]}, "sections": [{"title":
        "Target", "fields": [{"id": "environment", "type": "picker",
        "label": "Environment", "options": [{"tag": "staging", "label":
        "Staging", "tint": "blue"}, {"tag": "production", "label": "Production",
        "subtitle": "Real users", "tint": "red"}], "default": "staging",
        "onConflict": "ask"}, {"id": "region", "type": "picker", "label":
        "Region", "options": [{"section": "Europe", "options": ["eu-west-1",
        "eu-central-1", "eu-north-1"]}, {"section": "America", "options":
        ["us-east-1", "us-west-2", "sa-east-1"]}], "default": "eu-west-1"},
        {"id": "version", "type": "text", "label": "Version", "prompt":
        "1.2.3", "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+$", "maxLength":
        20, "default": "1.0.0"}]}, {"title": "Traffic", "fields": [{"id":
        "traffic", "type": "slider", "label": "Traffic to the new version",
        "min": 0, "max": 100, "step": 5, "minLabel": "none", "maxLabel":
        "all", "format": "${value} %", "default": 0, "enabledWhen": {"maintenance":
        false}}, {"id": "replicas", "type": "stepper", "label": "Replicas",
        "min": 0, "max": 64, "default": 3}, {"id": "errors", "type":
        "gauge", "label": "Errors per minute", "min": 0, "max": 100,
        "thresholds": [{"from": 20, "tint": "yellow"}, {"from": 60, "tint":
        "red"}], "default": 0}]}, {"title": "Switches", "fields": [{"id":
        "maintenance", "type": "toggle", "label": "Maintenance mode",
        "onConflict": "trueWins", "default": false}, {"id": "window",
        "type": "date", "mode": "dateAndTime", "minuteInterval": 15,
        "label": "Window opens", "default": "2026-11-21T22:00"}, {"id":
        "token", "type": "secure", "label": "Deploy token", "prompt":
        "Required"}, {"id": "start", "type": "button", "label": "Start",
        "visibleWhen": {"environment": "staging"}}, {"id": "rollback",
        "type": "button", "role": "destructive", "label": "Roll back",
        "confirm": "Roll back production?"}]}]}
        """#

    static let iceCream = #"""
        {"form": "ice-cream", "title": "Ice cream", "sections": [{"title":
        "Order", "styles": {"picker": "segmented"}, "fields": [{"id":
        "flavor", "type": "picker", "label": "Flavor", "subtitle": "Choose your favorite flavor",
        "options": ["chocolate", "vanilla", "strawberry"], "default":
        "chocolate"}, {"id": "topping", "type": "picker", "label": "Topping",
        "options": [{"tag": "nuts", "label": "Nuts"}, {"tag": "cookies",
        "label": "Cookies"}, {"tag": "blueberries", "label": "Blueberries"}],
        "default": "nuts"}, {"id": "suggestion", "type": "picker", "binds":
        "topping", "label": "Suggested with", "options": [{"tag": "nuts",
        "label": "Chocolate"}, {"tag": "cookies", "label": "Vanilla"},
        {"tag": "blueberries", "label": "Strawberry"}]}, {"id": "summary",
        "type": "label", "text": "${flavor} with ${topping}"}]}, {"title":
        "Serving", "fields": [{"id": "scoops", "type": "stepper", "label":
        "Scoops", "min": 1, "max": 5, "default": 2}, {"id": "cone", "type":
        "toggle", "label": "In a cone", "subtitle": "A cup otherwise",
        "default": true}]}]}
        """#

    static let income = #"""
        {"form": "income", "title": "Income", "fields": [{"id": "type",
        "type": "picker", "style": "wheel", "label": "Type", "options":
        ["primary", "secondary", "passive"], "default": "primary"}, {"id":
        "source", "type": "wheels", "label": "Source", "components":
        [{"id": "name", "label": "Source", "width": 16, "options": ["salary",
        "interest", "dividend", {"tag": "capitalGains", "label": "Capital Gains"},
        "royalty", "rental"]}, {"id": "tax", "label": "Tax", "options":
        ["fixed", "variable"]}], "optionsFor": [{"component": "tax",
        "when": {"name": "salary"}, "options": ["fixed"]}]}, {"id": "received",
        "type": "date", "mode": "date", "style": "wheel", "label": "Received on",
        "min": "2020-01-01", "max": "2030-12-31", "default": "2026-11-21"},
        {"id": "result", "type": "label",
        "text":
        "Income type is ${type}, from ${source.name} (${source.tax} tax), on ${received}."}]}
        """#
}
