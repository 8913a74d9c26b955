internal import SyncCore

// Buttons with `runs`, each with as many presses as may wait: so many that the values that their
// presses keep are just below `queueBytesMax`.

private let buttons = 85

private let buttonForm = apply(
    texts(buttons) { #"{"id":"b\#($0)","type":"button","runs":"queue","waitsFor":"1d"}"# })

/// One press of each button.
private let pressAll = set(texts(buttons) { #"{"field":"b\#($0)","press":true}"# })

/// 8,500 presses wait.
private let fullQueues = [buttonForm] + Array(repeating: pressAll, count: 100)

/// As many presses as one transaction may have, of all buttons in turn.
private let mostPresses = set(texts(1_330) { #"{"field":"b\#($0 % buttons)","press":true}"# })

/// Each press replaces the one before.
private let latestForm = apply([#"{"id":"b0","type":"button","runs":"latest","waitsFor":"1d"}"#])
private let latestPresses = set(texts(1_330) { _ in #"{"field":"b0","press":true}"# })

/// Queues beside a guarded field with as many proposals as a user may have. Breaking the glass ends
/// all of them.
private let guardedQueues =
    [
        apply(
            texts(70) { #"{"id":"b\#($0)","type":"button","runs":"queue","waitsFor":"1d"}"# }
                + [
                    #"{"id":"x","type":"toggle","approval":{"from":["anyone"]},"breakGlass":["anyone","user:root"]}"#
                ])
    ]
    + Array(
        repeating: set(texts(70) { #"{"field":"b\#($0)","press":true}"# }), count: 100)
    + Array(repeating: set([#"{"field":"x","toggle":true}"#], #","propose":true"#), count: 20)

let runCases: [CostlyRequest] = [
    CostlyRequest(.stateSet, "break-glass-full-queues", setup: guardedQueues) {
        set([#"{"field":"x","toggle":true}"#], #","breakGlass":true,"message":"why""#)
    },
    CostlyRequest(.stateSet, "most-presses", setup: [buttonForm]) { mostPresses },
    CostlyRequest(
        .stateSet, "most-latest-presses", setup: [latestForm, latestPresses],
        request: { latestPresses }),
    CostlyRequest(
        .stateSet, "press-full-queues",
        setup: [buttonForm] + Array(repeating: pressAll, count: 99), request: { pressAll }),
    CostlyRequest(
        .buttonHandle, "full-queues", setup: fullQueues,
        request: {
            let globs = texts(256) { $0 < 48 ? #""*b\#($0)*""# : #""b\#($0 % buttons)""# }
                .joined(separator: ",")
            let tickets = texts(256) { #""1-\#($0)-0""# }.joined(separator: ",")
            return call(
                .buttonHandle, #"{"form":"f","fields":[\#(globs)],"tickets":[\#(tickets)]}"#)
        }),
    CostlyRequest(.buttonProgress, "of-another", setup: fullQueues) {
        call(.buttonProgress, #"{"press":"3f9a.1:1","ticket":"1-2-3","fraction":0.5}"#)
    },
    CostlyRequest(.buttonFinish, "of-another", setup: fullQueues) {
        call(.buttonFinish, #"{"press":"3f9a.1:1","ticket":"1-2-3","outcome":"done"}"#)
    },
    CostlyRequest(.buttonCancel, "no-press", setup: fullQueues) {
        call(.buttonCancel, #"{"form":"f","field":"b1","press":"3f9a.1:999999"}"#)
    },
    CostlyRequest(.buttonOutcome, "no-press", setup: fullQueues) {
        call(.buttonOutcome, #"{"form":"f","press":"3f9a.1:999999"}"#)
    },
]
