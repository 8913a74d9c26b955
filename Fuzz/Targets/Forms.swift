internal import FormFile
internal import SyncCore

// Files that people write, and the definitions that peers apply.

/// A form file gives a definition that gives itself again, or issues that all have a message.
func fuzzForms(_ bytes: [UInt8]) {
    let limits = FormLimits()
    switch FormFile.load(bytes, name: "fuzz.yaml", limits: limits) {
    case .success(let (definition, json)):
        let parsed = parse(definition.json, limits)
        law(parsed != nil, "a definition that was taken is refused as it stands")
        law(parsed?.json == definition.json, "a definition changes when it is read again")
        law(parse(json, limits) != nil, "what was read from the file is refused on the wire")
    case .failure(let issues):
        law(!issues.issues.isEmpty, "a file is refused without a reason")
        law(issues.issues.allSatisfy { !$0.message.isEmpty }, "an issue says nothing")
    }
}

private func parse(_ json: JSON, _ limits: FormLimits) -> FormDefinition? {
    try? FormDefinition.parse(json, limits: limits, compile: RegularExpression.compiler)
}
