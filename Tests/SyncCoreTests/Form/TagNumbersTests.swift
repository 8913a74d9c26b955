import TestKit
import Testing

@testable import SyncCore

/// The quick ways of large forms give what the plain ones gave.
@Suite("Many options and sources")
struct TagNumbersTests {
    private static func picker(_ options: [String]) throws -> OptionList {
        let text =
            #"{"form":"f","fields":[{"id":"p","type":"picker","options":[\#(options.joined(separator: ","))]}]}"#
        let form = try FormDefinition.parse(
            json(text), limits: FormLimits(), compile: compilePattern)
        return try #require(form.controls[0].options)
    }

    /// Each option is looked for.
    private func stranger(of own: OptionList, in outer: OptionList) -> Int? {
        own.options.indices.first { place in
            if own.options[place].isDisabled { return false }
            return outer[own.options[place].tag].map(\.isDisabled) ?? true
        }
    }

    @Test("the first option that another list does not have is the one that a look-up finds")
    func strangers() throws {
        var random = SplitMix64(seed: 22)
        let kinds: [(Int) -> String] = [
            { "\"t\($0)\"" }, { "\($0)" }, { $0 == 0 ? "true" : "false" },
            { "\"e\u{301}\($0)\"" }, { "\"\u{e9}\($0)\"" },
        ]
        var lists: [OptionList] = []
        for number in 0..<60 {
            let kind = number % kinds.count
            let count = kind == 2 ? 2 : number < 10 ? 90 : 12
            let tags = (0..<count).shuffled(using: &random).prefix(Int.random(in: 1...count))
            lists.append(
                try Self.picker(
                    tags.map { tag in
                        let text = kinds[kind](tag)
                        let isDisabled = Int.random(in: 0..<9, using: &random) == 0
                        return isDisabled ? #"{"tag":\#(text),"disabled":true}"# : text
                    }))
        }
        var numbers = TagNumbers()
        var found = 0
        for own in lists {
            for outer in lists {
                let expected = stranger(of: own, in: outer)
                #expect(numbers.stranger(of: own, in: outer) == expected)
                if expected == nil { found += 1 }
            }
        }
        #expect(found > lists.count, "some lists are in others")
    }

    @Test("a control over toggles shows what all of them show, and else that they differ")
    func sources() throws {
        let text = #"""
            {"form":"f","fields":[
              {"id":"a","type":"toggle"},{"id":"b","type":"toggle"},
              {"id":"c","type":"toggle","binds":"a"},
              {"id":"p","type":"picker","options":[true,false]},
              {"id":"s","type":"toggle","sources":["a","b"]},
              {"id":"t","type":"toggle","sources":["c","b"]},
              {"id":"u","type":"toggle","sources":["b","s"]},
              {"id":"v","type":"toggle","sources":["p","a","b"]}]}
            """#
        let form = try FormDefinition.parse(
            json(text), limits: FormLimits(), compile: compilePattern)
        for (a, b, p) in [(true, true, true), (true, false, true), (true, true, false)] {
            let values: [JSON] = [.bool(a), .bool(b), .null, .bool(p)]
            for (control, all) in [(4, [a, b]), (5, [a, b]), (6, [b, a]), (7, [p, a, b])] {
                let shown = form.shown(control) { values[$0] }
                let isMixed = Set(all).count > 1
                #expect(shown.isMixed == isMixed, "\(control): \(all)")
                #expect(shown.value == (isMixed ? .null : .bool(all[0])))
            }
        }
    }

    @Test("a default stays with options that have it, however its tag is written")
    func defaults() throws {
        func defaultAfter(_ written: String, _ options: String) throws -> JSON? {
            let text =
                #"{"form":"f","fields":[{"id":"p","type":"picker","optional":true,"options":[1,2],"default":\#(written)}]}"#
            let form = try FormDefinition.parse(
                json(text), limits: FormLimits(), compile: compilePattern)
            let changed = try form.settingOptions(
                of: 0, to: json(options), applied: form.json, limits: FormLimits(),
                compile: compilePattern)
            return changed.json["fields"]?.arrayValue?[0]["default"]
        }
        #expect(try defaultAfter("1", "[3,1]") == 1)
        #expect(try defaultAfter("1.0", "[3,1]")?.numberValue?.integer == 1)
        #expect(try defaultAfter("1", #"[{"tag":1,"label":"One"}]"#) == 1)
        #expect(try defaultAfter("1", #"[{"section":"S","options":[1]},2]"#) == 1)
        #expect(try defaultAfter("null", "[3]") == .null)
        #expect(try defaultAfter("1", "[3]") == nil)
        #expect(try defaultAfter("1", #"[{"tag":1,"disabled":true},2]"#) == nil)
    }
}
