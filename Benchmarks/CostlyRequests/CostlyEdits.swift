internal import SyncCore

// Reads, edits and what takes them back.

private let changesMax = Limits().changesMax

private let plainForm = #"{"form":"f"}"#

let readingCases: [CostlyRequest] = [
    CostlyRequest(.stateGet, "all", setup: [wideForm, setAll]) {
        call(.stateGet, plainForm)
    },
    CostlyRequest(.stateGet, "globs", setup: [wideForm]) {
        call(.stateGet, #"{"form":"f","fields":[\#(costlyGlobs)]}"#)
    },
    CostlyRequest(.stateGet, "names", setup: [wideForm]) {
        let names = texts(256) { #""\#(wideID($0))""# }.joined(separator: ",")
        return call(.stateGet, #"{"form":"f","fields":[\#(names)]}"#)
    },
    CostlyRequest(.stateGet, "stranger", setup: [wideForm]) {
        call(.stateGet, #"{"form":"f","fields":["\#(String(repeating: "ab", count: 64))"]}"#)
    },
    CostlyRequest(.stateSubscribe, "globs", setup: [wideForm]) {
        call(.stateSubscribe, #"{"form":"f","fields":[\#(costlyGlobs)]}"#)
    },
    CostlyRequest(.stateSubscribe, "all", setup: [wideForm, setAll]) {
        call(.stateSubscribe, #"{"form":"f","presence":true}"#)
    },
    CostlyRequest(
        .stateHistory, "one-field",
        setup: [wideForm, setAll] + Array(repeating: flipAll, count: 40),
        request: {
            call(.stateHistory, #"{"form":"f","field":"\#(wideID(7))","limit":1000}"#)
        }),
    CostlyRequest(
        .stateHistory, "all",
        setup: [wideForm, setAll] + Array(repeating: flipAll, count: 40),
        request: { call(.stateHistory, #"{"form":"f","limit":1000}"#) }),
    CostlyRequest(.historyRedact, "wide", setup: [wideForm, setAllWhy]) {
        call(.historyRedact, #"{"form":"f","revision":2}"#)
    },
    CostlyRequest(.stateExplain, "now", setup: [wideForm, setAll]) {
        call(.stateExplain, #"{"form":"f","field":"\#(wideID(7))"}"#)
    },
    CostlyRequest(
        .stateExplain, "earlier",
        setup: [wideForm, setAll] + Array(repeating: flipAll, count: 40),
        request: { call(.stateExplain, #"{"form":"f","field":"\#(wideID(7))","at":1}"#) }),
]

/// Patterns that match nothing, and only at their ends: as many bytes of them as may be, and names.
private let costlyGlobs =
    (texts(64) { number in
        "\"*" + String(repeating: "a", count: 55 + number % 4) + "*b\(number % 10)\""
    } + texts(192) { "\"\(wideID($0))\"" }).joined(separator: ",")

private let setAll = set(texts(wideCount) { #"{"field":"\#(wideID($0))","value":true}"# })
private let setAllWhy = set(
    texts(wideCount) { #"{"field":"\#(wideID($0))","value":true}"# }, #","message":"why""#)
private let flipAll = set(texts(wideCount) { #"{"field":"\#(wideID($0))","toggle":true}"# })

// MARK: - Edits

let writingCases: [CostlyRequest] = [
    CostlyRequest(.stateSet, "wide", setup: [wideForm]) { setAll },
    CostlyRequest(.stateSet, "wheels", setup: [wheelsForm]) { wheelsEdit },
    CostlyRequest(.stateSet, "most-wheels", setup: [mostWheelsForm, mostWheelsEdit(0)]) {
        mostWheelsEdit(1)
    },
    CostlyRequest(.stateSet, "one-field-token", setup: [textForm]) {
        set(texts(changesMax) { #"{"field":"t","value":"\#($0)"}"# }, #","context":"""#)
    },
    CostlyRequest(.stateSet, "own-tokens", setup: [wideForm, setAll, setAll]) {
        set(
            texts(changesMax) {
                #"{"field":"\#(wideID($0 % wideCount))","toggle":true,"context":""}"#
            })
    },
    CostlyRequest(.stateSet, "siblings", setup: [siblingsForm]) {
        set(texts(changesMax) { #"{"field":"t","value":"\#($0)","context":""}"# })
    },
    CostlyRequest(.stateSet, "increments", setup: [stepperForm]) {
        set(texts(changesMax) { _ in #"{"field":"n","increment":1}"# })
    },
    CostlyRequest(.stateSet, "set-and-increment", setup: [stepperForm]) {
        set(
            texts(changesMax) {
                $0.isMultiple(of: 2)
                    ? #"{"field":"n","value":\#($0)}"# : #"{"field":"n","increment":1}"#
            })
    },
    CostlyRequest(.stateSet, "presses", setup: [buttonForm]) {
        set(texts(changesMax) { _ in #"{"field":"b","press":true}"# })
    },
    CostlyRequest(.stateSet, "all-tags", setup: [tagsForm]) { setTags },
    CostlyRequest(.stateSet, "all-tags-again", setup: [tagsForm, setTags, setTags]) { setTags },
    CostlyRequest(.stateSet, "all-texts-again", setup: [textTagsForm, setTextTags, setTextTags]) {
        setTextTags
    },
    CostlyRequest(.stateSet, "tag-by-tag", setup: [tagsForm, setTags]) {
        set(
            texts(changesMax) {
                $0.isMultiple(of: 2)
                    ? #"{"field":"m","remove":[1005]}"# : #"{"field":"m","add":[1005]}"#
            })
    },
    CostlyRequest(.stateSet, "moves", setup: [pickerForm]) {
        set(texts(changesMax) { _ in #"{"field":"p","move":"previous","wraps":true}"# })
    },
    CostlyRequest(.stateSet, "sources", setup: [sourcesForm]) {
        set(texts(19) { #"{"field":"s","value":\#($0.isMultiple(of: 2))}"# })
    },
    CostlyRequest(.stateSet, "source-by-source", setup: [manySourcesForm]) {
        set(texts(198) { #"{"field":"s\#($0)","toggle":true}"# })
    },
    CostlyRequest(.stateSet, "derived", setup: [sourcesOfSources]) {
        set([#"{"field":"a0","toggle":true}"#])
    },
    CostlyRequest(.stateSet, "complete", setup: [conditions(2_000)]) {
        set(texts(changesMax) { #"{"field":"a\#($0 % 2_000)","value":\#($0.isMultiple(of: 3))}"# })
    },
    CostlyRequest(.stateSet, "comparisons", setup: [comparisons]) {
        set(texts(changesMax) { #"{"field":"a\#($0 % 1_400)","value":false}"# })
    },
    CostlyRequest(.stateSet, "section-condition", setup: [sectionCondition]) {
        set(texts(changesMax) { #"{"field":"a\#($0 % wideCount)","value":false}"# })
    },
    CostlyRequest(.stateSet, "required-fields", setup: [wideForm, setAll]) {
        let fields = texts(wideCount) { #""\#(wideID($0))""# }.joined(separator: ",")
        return set(
            [#"{"field":"\#(wideID(0))","toggle":true}"#],
            #","context":"","require":"current","requireFields":[\#(fields)]"#)
    },
    CostlyRequest(.stateSet, "long-text", setup: [longTextForm]) {
        set([#"{"field":"t","value":"\#(String(repeating: "e\u{301}", count: 40_000))"}"#])
    },
    CostlyRequest(.stateSet, "long-texts", setup: [longTextForm]) {
        set(
            texts(24) { #"{"field":"t","value":"\#(String(repeating: "x", count: 40_000 - $0))"}"# }
        )
    },
]

/// Patterns that look at much text for few backtracks, by what they are made of.
private let costlyPatterns: [(name: String, pattern: String)] = [
    ("lookaheads", "(?:" + String(repeating: "(?=.*+)", count: 16) + ".)*+"),
    ("nested", "(?:(?:a|aa)+)+b"),
    ("reference", "(a*)(?:(?=\\\\1b|a).)*+"),
    ("counted", "(?:(?=(?:.{3000})|a).)*+"),
    ("recursive", "(a(?1)?a?)+b"),
    // These match, so that all values are looked at.
    ("clusters", "(?:\\\\X\\\\X?)+$"),
    ("all-match", "(?:(?=a|[1-4])(?=a|[1-4])(?:a|[1-4]))*+"),
    ("properties", "(?:[\\\\p{L}\\\\p{N}]|\\\\X)*+"),
    ("class", "(?:(?=[" + "äöüßéèêàâîôûçñ" + "\\\\p{Lu}]*+|a).)*+"),
]

private func patternForm(_ pattern: String) -> String {
    apply([#"{"id":"t","type":"text","maxLength":4000,"pattern":"\#(pattern)"}"#])
}

let patternCases: [CostlyRequest] = costlyPatterns.map { name, pattern in
    CostlyRequest(.stateSet, "pattern-\(name)", setup: [patternForm(pattern)]) {
        set(
            texts(40) {
                #"{"field":"t","value":"\#(String(repeating: "a", count: 3_960 + $0))"}"#
            })
    }
}

private let textForm = apply([#"{"id":"t","type":"text","maxLength":40}"#])
private let longTextForm = apply([#"{"id":"t","type":"text","maxLength":40000}"#])
private let siblingsForm = apply(
    [#"{"id":"t","type":"text","maxLength":40,"onConflict":"ask"}"#])
private let stepperForm = apply([#"{"id":"n","type":"stepper","min":0,"max":100000}"#])
private let buttonForm = apply([#"{"id":"b","type":"button"}"#])
private let tagsForm = apply(
    [#"{"id":"m","type":"picker","multiple":true,"options":\#(options(19_990))}"#])
private let setTags = set([#"{"field":"m","value":\#(options(19_990))}"#])
/// Tags that are texts, alike but for their ends, in another order than that of their bytes.
private let textTags =
    "["
    + texts(12_000) { #""\#(String(repeating: "t", count: 20))\#(10_000 + $0 * 7 % 12_000)""# }
    .joined(separator: ",") + "]"
private let textTagsForm = apply(
    [#"{"id":"m","type":"picker","multiple":true,"options":\#(textTags)}"#])
private let setTextTags = set([#"{"field":"m","value":\#(textTags)}"#])
private let pickerForm = apply([#"{"id":"p","type":"picker","options":\#(mostOptions)}"#])
private let sourcesForm = apply(
    texts(1_000) { #"{"id":"a\#($0)","type":"toggle"}"# }
        + [
            #"{"id":"s","type":"toggle","sources":[\#(texts(1_000) { #""a\#($0)""# }.joined(separator: ","))]}"#
        ])
private let manySourcesForm = apply(
    texts(100) { #"{"id":"a\#($0)","type":"toggle"}"# }
        + texts(300) { number in
            let sources = texts(100) { #""a\#($0)""# }.joined(separator: ",")
            return #"{"id":"s\#(number)","type":"toggle","sources":[\#(sources)]}"#
        })

/// Controls that all show the same ones, by way of one: as many of them as may be.
let sourcesOfSources = apply(
    texts(990) { #"{"id":"a\#($0)","type":"toggle"}"# }
        + [
            #"{"id":"s","type":"toggle","sources":[\#(texts(990) { #""a\#($0)""# }.joined(separator: ","))]}"#
        ] + texts(49) { #"{"id":"s\#($0)","type":"toggle","sources":["s"]}"# })

private let wheelsForm = apply(
    texts(2) {
        #"{"id":"w\#($0)","type":"wheels","components":[{"id":"u","options":["1","2"]},{"id":"v","options":["3","4"]}]}"#
    })
private let wheelsEdit = set(
    texts(changesMax) {
        #"{"field":"w\#($0 % 2)","value":{"u":"\#($0 / 2 % 2 + 1)"}}"#
    })

/// As many wheels as may be, with ids as long as they may be.
private let mostWheelsForm = apply([
    #"{"id":"w","type":"wheels","components":[\#(texts(64) { #"{"id":"\#(wideID($0))","options":["1","2"]}"# }.joined(separator: ","))]}"#
])

/// As many turns of one wheel as a transaction may have; the first turns all.
private func mostWheelsEdit(_ phase: Int) -> String {
    let all = texts(64) { #""\#(wideID(63 - $0))":"\#(phase + 1)""# }.joined(separator: ",")
    return set(
        [#"{"field":"w","value":{\#(all)}}"#]
            + texts(306) { #"{"field":"w","value":{"\#(wideID(63))":"\#($0 % 2 + 1)"}}"# })
}

// MARK: - Undo

private let undo = call(.stateUndo, plainForm)
private let redo = call(.stateRedo, plainForm)

/// A lease of each of a thousand sources.
private let sourcesLease = set([#"{"field":"s","value":true}"#], #","lease":{"seconds":60}"#)

let leaseCases: [CostlyRequest] = [
    CostlyRequest(.stateLease, "all-sources", setup: [sourcesForm, sourcesLease]) {
        call(.stateLease, #"{"form":"f","field":"s","end":true}"#)
    },
    CostlyRequest(.stateSet, "lease-all-sources", setup: [sourcesForm]) { sourcesLease },
]

let undoCases: [CostlyRequest] = [
    CostlyRequest(.stateUndo, "wheels", setup: [wheelsForm, wheelsEdit]) { undo },
    CostlyRequest(.stateRedo, "wheels", setup: [wheelsForm, wheelsEdit, undo]) { redo },
    CostlyRequest(
        .stateUndo, "wheels-again", setup: [wheelsForm, wheelsEdit, undo, redo]
    ) { undo },
    CostlyRequest(.stateUndo, "wide", setup: [wideForm] + deepEdits) { undo },
    CostlyRequest(.stateRedo, "wide", setup: [wideForm] + deepEdits + [undo]) { redo },
    CostlyRequest(
        .stateUndo, "nothing-left", setup: [wideForm] + deepEdits + [undo, redo]
    ) { undo },
    CostlyRequest(.stateUndo, "all-tags", setup: [tagsForm, setTags]) { undo },
    CostlyRequest(.stateRedo, "all-tags", setup: [tagsForm, setTags, undo]) { redo },
    CostlyRequest(
        .stateUndo, "siblings",
        setup: [
            siblingsForm,
            set(texts(changesMax) { #"{"field":"t","value":"\#($0)","context":""}"# }),
        ],
        request: { undo }),
]

/// Steps that a journal keeps of many revisions.
private let deepEdits = [setAll] + Array(repeating: flipAll, count: 24)
