// Helpers for tests of forms: forms as JSON text, values by id.

import Foundation
import SyncCore
import TestKit
import Testing

/// Compiles patterns with Foundation; the shell uses PCRE2.
let compilePattern: PatternCompiler = { source in
    guard (try? NSRegularExpression(pattern: source)) != nil else {
        return .failure(PatternError(message: "no such pattern", offsetBytes: 0))
    }
    return .success(
        PatternMatcher { text in
            guard let expression = try? NSRegularExpression(pattern: source) else { return false }
            let whole = NSRange(text.startIndex..., in: text)
            return expression.firstMatch(in: text, range: whole)?.range == whole
        })
}

func json(_ text: String) throws -> JSON { try JSON(parsing: text) }

/// A form with these fields (JSON text).
func form(fields: String, top: String = "", limits: FormLimits = FormLimits()) throws
    -> FormDefinition
{
    let text = #"{"form": "test", \#(top) "fields": [\#(fields)]}"#
    return try FormDefinition.parse(json(text), limits: limits, compile: compilePattern)
}

/// A form with one control `x`; `attributes` begin with its type.
func form(of attributes: String) throws -> FormDefinition {
    try form(fields: #"{"id": "x", \#(attributes)}"#)
}

/// The issues of a form, one line each; empty if it is accepted.
func issues(of text: String, limits: FormLimits = FormLimits()) throws -> [FormIssue] {
    do {
        _ = try FormDefinition.parse(json(text), limits: limits, compile: compilePattern)
        return []
    } catch let refused as FormIssues {
        return refused.issues
    }
}

/// Values of a form by id; others have their defaults.
struct FormValues {
    let form: FormDefinition
    var byID: [String: JSON] = [:]

    init(_ form: FormDefinition, _ byID: [String: JSON] = [:]) {
        self.form = form
        self.byID = byID
    }

    func value(_ index: Int) -> JSON {
        byID[form.controls[index].id] ?? form.controls[index].defaultValue
    }

    func index(_ id: String) throws -> Int { try #require(form.index(of: id)) }

    func shown(_ id: String) throws -> ShownValue { try form.shown(index(id), values: value) }

    func admit(_ proposed: JSON, _ id: String = "x") throws -> JSON {
        try form.admit(proposed, control: index(id), values: value)
    }

    func edits(_ action: Change.Action, _ id: String = "x") throws -> [FieldEdit] {
        try form.edits(for: action, control: index(id), values: value)
    }

    func increment(_ amount: DecimalNumber, _ id: String = "x") throws -> IncrementResult {
        try form.increment(index(id), by: amount, values: value)
    }
}

/// A decimal from its text.
func decimal(_ text: String) throws -> DecimalNumber { try #require(DecimalNumber(text)) }

/// The numbers of one seed.
struct FormRandom: RandomNumberGenerator {
    private var generator: SplitMix64

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    /// The seed of this run: `FORM_TEST_SEED`, else a fixed one.
    static var seed: UInt64 {
        ProcessInfo.processInfo.environment["FORM_TEST_SEED"].flatMap(UInt64.init) ?? 20_261_121
    }

    mutating func next() -> UInt64 { generator.next() }
}
