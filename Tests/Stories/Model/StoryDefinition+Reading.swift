// Definitions parsed from the JSON of requests.

import SyncCore

extension StoryDefinition {
    /// The definition in a request; `nil` if a required member is missing.
    init?(_ json: JSON) {
        guard let name = json["form"]?.stringValue, let fields = json["fields"]?.arrayValue else {
            return nil
        }
        self.init(
            name: name, title: json["title"]?.stringValue,
            controls: fields.compactMap { StoryControl($0) })
        guard controls.count == fields.count else { return nil }
        labelAlignment = json["labelAlignment"]?.stringValue
        needsMessage = json["message"] == "required"
        for member in json["access"]?.objectValue?.members ?? [] {
            access[member.name] = member.value.arrayValue?.compactMap(\.stringValue) ?? []
        }
    }
}

extension StoryControl {
    /// Replaces the options by those of a JSON list.
    mutating func takeOptions(_ list: [JSON]) {
        options = list.compactMap { $0.stringValue ?? $0["tag"]?.stringValue }
        disabledOptions = Set(
            list.filter { $0["disabled"] == true }.compactMap { $0["tag"]?.stringValue })
        hasLabels = list.contains { $0["label"] != nil }
    }

    /// Replaces the options by those of another control.
    mutating func takeOptions(of other: StoryControl) {
        options = other.options
        disabledOptions = other.disabledOptions
        hasLabels = other.hasLabels
    }

    fileprivate init?(_ json: JSON) {
        guard let id = json["id"]?.stringValue, let type = json["type"]?.stringValue,
            let kind = Kind(rawValue: json["multiple"] == true ? "multiple" : type)
        else { return nil }
        self.init(id, kind)
        takeOptions(json["options"]?.arrayValue ?? [])
        isOptional = json["optional"] == true
        minimum = Int(json["min"]?.integerValue ?? 0)
        maximum = Int(json["max"]?.integerValue ?? 0)
        step = Int(json["step"]?.integerValue ?? 1)
        wraps = json["wraps"] == true
        maxLength = json["maxLength"]?.integerValue.map { Int($0) }
        wheels = (json["components"]?.arrayValue ?? []).map { wheel in
            Wheel(
                id: wheel["id"]?.stringValue ?? "",
                options: (wheel["options"]?.arrayValue ?? []).compactMap(\.stringValue))
        }
        initial = json["default"]
        policy = json["onConflict"]?.stringValue
        isRequired = json["required"] == true
        isLocked = json["locked"] == true
        isDisabled = json["disabled"] == true
        needsMessage = json["message"] == "required"
        if let condition = json["enabledWhen"]?.objectValue?.members.first {
            enabledWhen = Condition(
                field: condition.name, value: condition.value.boolValue ?? false)
        }
        if let rule = json["approval"] {
            approval = StoryApproval(
                from: rule["from"]?.arrayValue?.compactMap(\.stringValue) ?? [],
                count: Int(rule["count"]?.integerValue ?? 1),
                breakGlass: json["breakGlass"]?.arrayValue?.compactMap(\.stringValue))
            if let condition = rule["when"]?.objectValue?.members.first {
                approval?.when = Condition(
                    field: condition.name, value: condition.value.boolValue ?? false)
            }
        }
        writers = json["access"]?["write"]?.arrayValue?.compactMap(\.stringValue)
        binds = json["binds"]?.stringValue
        sources = json["sources"]?.arrayValue?.compactMap(\.stringValue) ?? []
        was = json["was"]?.stringValue
        runs = json["runs"]?.stringValue
        waitsFor = json["waitsFor"]?.stringValue
        let text = json["text"]?.stringValue ?? ""
        shows = text.split(separator: "$").compactMap { part in
            part.first == "{"
                ? part.dropFirst().split(separator: "}").first.map { String($0) } : nil
        }
    }
}
