public import SyncCore

// What each method can be made to cost within the limits as shipped.
//
// `make check-cost` counts the instructions of each, and `make torture` row 26 sends them to a
// daemon beside a bystander. A method without a case fails both.

/// A request that costs as much as the limits allow, and what has to be there before it.
public struct CostlyRequest: Sendable {
    /// What makes it costly, in a few words without spaces.
    public let name: String
    /// The method of `request`.
    public let method: Method
    /// Requests that come first, each answered before the next is sent.
    public let setup: @Sendable () -> [String]
    /// The request, as JSON text.
    public let request: @Sendable () -> String

    init(
        _ method: Method, _ name: String,
        setup: @autoclosure @escaping @Sendable () -> [String] = [],
        request: @escaping @Sendable () -> String
    ) {
        self.name = "\(method.rawValue)/\(name)"
        self.method = method
        self.setup = setup
        self.request = request
    }

    /// `name`, `setup` and `request` as one line of JSON text.
    public var jsonText: String {
        let steps = setup().joined(separator: ",")
        return #"{"name":"\#(name)","setup":[\#(steps)],"request":\#(request())}"#
    }

    /// All cases; each method has at least one.
    public static let all: [CostlyRequest] =
        plainCases + definitionCases + readingCases + writingCases + patternCases
        + leaseCases + undoCases + runCases + proposalCases

    /// Those of buttons with `runs`, which keep rows of their own.
    public static var ofRuns: [CostlyRequest] { runCases }

    /// Methods that no case has: a new method needs one.
    public static var missingMethods: [Method] {
        Method.allCases.filter { method in !all.contains { $0.method == method } }
    }
}

/// A JSON-RPC request as text.
func call(_ method: Method, _ params: String) -> String {
    #"{"jsonrpc":"2.0","id":1,"method":"\#(method.rawValue)","params":\#(params)}"#
}

/// `form.apply` of a form whose fields are these JSON texts.
func apply(_ fields: [String], form: String = "f") -> String {
    call(
        .formApply,
        #"{"definition":{"form":"\#(form)","fields":[\#(fields.joined(separator: ","))]}}"#)
}

/// `state.set` of these changes.
func set(_ changes: [String], _ more: String = "") -> String {
    call(.stateSet, #"{"form":"f"\#(more),"changes":[\#(changes.joined(separator: ","))]}"#)
}

/// Texts of the numbers below `count`, one after the other.
func texts(_ count: Int, _ text: (Int) -> String) -> [String] { (0..<count).map(text) }

/// So many options, tags of four digits and more.
func options(_ count: Int) -> String {
    "[" + texts(count) { "\(1000 + $0)" }.joined(separator: ",") + "]"
}

/// As many options as a form may have.
let mostOptions = options(Limits().optionsMax)

// MARK: - Greetings and the daemon

private let plainCases: [CostlyRequest] = [
    CostlyRequest(.hello, "long") {
        let name = String(repeating: "n", count: 128)
        return call(
            .hello, #"{"protocol":1,"client":"\#(name)","session":"\#(name)","tty":"\#(name)"}"#)
    },
    CostlyRequest(.ping, "plain") { call(.ping, "{}") },
    CostlyRequest(.serverStatus, "many-forms", setup: manyForms()) { call(.serverStatus, "{}") },
    CostlyRequest(.serverBackup, "begin") { call(.serverBackup, "{}") },
    CostlyRequest(.linkAttach, "plain") { call(.linkAttach, "{}") },
    CostlyRequest(.linkUp, "plain") { call(.linkUp, #"{"maxPayload":1048576,"rttUs":1}"#) },
    CostlyRequest(.linkDown, "plain") { call(.linkDown, #"{"reason":"x"}"#) },
    CostlyRequest(.linkMessage, "as-large-as-a-frame") {
        let data = String(repeating: "AAAA", count: (Limits().maxFrame - 256) / 4)
        return call(.linkMessage, #"{"subject":"ps.ops.a.b","data":"\#(data)"}"#)
    },
    CostlyRequest(.linkRepair, "plain") { call(.linkRepair, #"{"form":"f"}"#) },
    CostlyRequest(.linkTest, "plain") { call(.linkTest, "{}") },
    CostlyRequest(.formLink, "plain") { call(.formLink, #"{"form":"f"}"#) },
    CostlyRequest(.formUnlink, "plain") { call(.formUnlink, #"{"form":"f"}"#) },
    CostlyRequest(.formList, "many-forms", setup: manyForms()) { call(.formList, "{}") },
    CostlyRequest(.formWatch, "many-forms", setup: manyForms()) { call(.formWatch, "{}") },
    CostlyRequest(
        .stateReveal, "long",
        setup: [
            apply([#"{"id":"s","type":"secure","maxLength":4000}"#]),
            set([#"{"field":"s","value":"\#(String(repeating: "x", count: 4000))"}"#]),
        ],
        request: { call(.stateReveal, #"{"form":"f","field":"s"}"#) }),
    CostlyRequest(
        .stateUnsubscribe, "plain",
        setup: [wideForm, call(.stateSubscribe, #"{"form":"f"}"#)],
        request: { call(.stateUnsubscribe, #"{"form":"f"}"#) }),
    CostlyRequest(
        .presenceUpdate, "long-draft",
        setup: [
            apply([#"{"id":"t","type":"text","maxLength":4000}"#]),
            call(.stateSubscribe, #"{"form":"f","presence":true}"#),
        ],
        request: {
            call(
                .presenceUpdate,
                #"{"form":"f","focus":"t","draft":"\#(String(repeating: "d", count: 4000))"}"#)
        }),
]

/// Nearly as many forms as one user may have.
private func manyForms() -> [String] {
    texts(400) { apply([#"{"id":"a","type":"toggle"}"#], form: "form-\($0)") }
}

// MARK: - Definitions

/// About as many fields as fit in a snapshot. Row 26 adds a name and an access list.
let wideCount = 1_800
let wideForm = apply(texts(wideCount) { #"{"id":"\#(wideID($0))","type":"toggle"}"# })

/// Ids as long as they may be, all alike but for their ends.
func wideID(_ number: Int) -> String {
    String(repeating: "a", count: 57) + "\(10_000 + number)"
}

private let definitionCases: [CostlyRequest] = [
    CostlyRequest(.formGet, "wide", setup: [wideForm]) {
        call(.formGet, #"{"form":"f"}"#)
    },
    CostlyRequest(.formApply, "wide") { wideForm },
    CostlyRequest(.formApply, "wide-again", setup: [wideForm]) {
        apply(texts(wideCount) { #"{"id":"\#(wideID($0))","type":"toggle","default":true}"# })
    },
    CostlyRequest(.formApply, "renamed", setup: [wideForm]) {
        apply(
            texts(wideCount) {
                #"{"id":"b\#($0)","type":"toggle","was":"\#(wideID($0))"}"#
            })
    },
    CostlyRequest(.formApply, "options") {
        apply([#"{"id":"p","type":"picker","options":\#(mostOptions)}"#])
    },
    CostlyRequest(.formApply, "labelled-options") {
        let list = texts(19_000) { #"{"tag":\#($0),"label":"x"}"# }.joined(separator: ",")
        return apply([#"{"id":"p","type":"picker","options":[\#(list)]}"#])
    },
    CostlyRequest(.formApply, "sources") {
        apply(
            texts(220) { #"{"id":"a\#($0)","type":"toggle"}"# }
                + texts(220) { number in
                    let sources = texts(220) { #""a\#($0)""# }.joined(separator: ",")
                    return #"{"id":"s\#(number)","type":"toggle","sources":[\#(sources)]}"#
                })
    },
    CostlyRequest(.formApply, "sources-of-sources") { sourcesOfSources },
    CostlyRequest(.formApply, "sources-with-options") {
        // Each of the options is looked for among those of each source.
        apply(
            texts(70) { #"{"id":"a\#($0)","type":"picker","options":\#(options(100))}"# }
                + texts(70) { number in
                    let sources = texts(70) { #""a\#($0)""# }.joined(separator: ",")
                    return
                        #"{"id":"s\#(number)","type":"picker","sources":[\#(sources)],"options":\#(options(100))}"#
                })
    },
    CostlyRequest(.formApply, "conditions") { conditions(2_000) },
    CostlyRequest(.formApply, "comparisons") { comparisons },
    CostlyRequest(.formApply, "section-condition") { sectionCondition },
    CostlyRequest(.formApply, "too-many-comparisons") {
        let list = texts(33_000) { _ in #"{"a":1}"# }.joined(separator: ",")
        return apply([
            #"{"id":"a","type":"stepper"}"#,
            #"{"id":"b","type":"toggle","enabledWhen":{"any":[\#(list)]}}"#,
        ])
    },
    CostlyRequest(.formApply, "strangers") {
        // Each names a control that is not there, so that the nearest is looked for.
        apply(
            texts(wideCount) { number in
                #"{"id":"\#(wideID(number))","type":"toggle","enabledWhen":{"x\#(wideID(number))":1}}"#
            })
    },
    CostlyRequest(.formApply, "patterns") {
        apply(
            texts(1_500) {
                #"{"id":"t\#($0)","type":"text","maxLength":9,"pattern":"(?:a\#($0){0,900}b?){0,9}"}"#
            })
    },
    CostlyRequest(.formApply, "template") {
        apply(
            [
                #"{"id":"a","type":"text","maxLength":4000}"#,
                #"{"id":"l","type":"label","text":"\#(texts(200_000) { _ in "${a}" }.joined())"}"#,
            ])
    },
    CostlyRequest(
        .formSetOptions, "wide",
        setup: [
            apply(
                [#"{"id":"p","type":"picker","options":["x"]}"#]
                    + texts(wideCount) { #"{"id":"\#(wideID($0))","type":"toggle"}"# })
        ],
        request: {
            call(.formSetOptions, #"{"form":"f","field":"p","options":\#(mostOptions)}"#)
        }),
    CostlyRequest(.formSetOptions, "default-gone", setup: [optionsForm()]) {
        call(.formSetOptions, #"{"form":"f","field":"p","options":\#(mostOptions)}"#)
    },
    CostlyRequest(
        .formApply, "keeps-options",
        setup: [
            optionsForm(),
            call(.formSetOptions, #"{"form":"f","field":"p","options":\#(mostOptions)}"#),
        ],
        request: { optionsForm(#","default":true"#) }),
    CostlyRequest(.formDelete, "wide", setup: [wideForm]) {
        call(.formDelete, #"{"form":"f"}"#)
    },
]

/// A picker whose default only the options of the file have, and many fields.
private func optionsForm(_ more: String = "") -> String {
    apply(
        [#"{"id":"p","type":"picker","options":["x"],"default":"x"}"#]
            + texts(wideCount) { #"{"id":"\#(wideID($0))","type":"toggle"\#(more)}"# })
}

/// As many comparisons as conditions may have, in as many controls as there may be.
let comparisons = apply(
    texts(1_400) { number in
        let list = texts(5) { #"{"a\#(number + $0)":true}"# }.joined(separator: ",")
        return
            #"{"id":"a\#(number)","type":"toggle","enabledWhen":{"any":[\#(list),{"none":[]}]}}"#
    }
        + texts(10) { #"{"id":"a\#(1_400 + $0)","type":"toggle"}"# })

/// As many fields as may be in a section whose condition has as many comparisons as may be.
let sectionCondition = call(
    .formApply,
    #"{"definition":{"form":"f","sections":[{"visibleWhen":{"any":[\#(texts(9_990) { _ in #"{"a0":true}"# }.joined(separator: ","))]},"fields":[\#(texts(wideCount) { #"{"id":"a\#($0)","type":"toggle"}"# }.joined(separator: ","))]}]}}"#
)

/// Fields of which each is enabled by all others being complete.
func conditions(_ count: Int) -> String {
    apply(
        texts(count) {
            #"{"id":"a\#($0)","type":"toggle","required":true,"enabledWhen":"complete"}"#
        })
}
