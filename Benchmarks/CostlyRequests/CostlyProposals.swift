internal import SyncCore

// Guards and proposals: as many guarded controls as a snapshot holds beside proposals, and as many
// proposals as a user may have. Row 26 adds an access list to each form.

private let guards = 990

/// Each guard asks only while the form is complete, so each of them is looked at after any change.
private let guardedForm = apply(
    texts(guards) {
        #"{"id":"g\#($0)","type":"toggle","required":true,"approval":{"from":["user:nobody"],"within":"1d","when":"complete"}}"#
    })

private let changeAll = texts(guards) { #"{"field":"g\#($0)","value":true}"# }

/// Proposals of twelve kilobytes each: twenty are of one user, and fit in `proposalBytesMax`.
private let proposeSome = set(
    texts(100) { #"{"field":"g\#($0)","value":true}"# }, #","propose":true"#)
private let waiting = [guardedForm] + Array(repeating: proposeSome, count: 20)

/// A proposal that changes all of them.
private let large = [guardedForm, set(changeAll, #","propose":true"#)]

private func vote(_ method: Method) -> String {
    call(method, #"{"form":"f","proposal":1}"#)
}

let proposalCases: [CostlyRequest] = [
    CostlyRequest(.stateSet, "guarded", setup: [guardedForm]) { set(changeAll) },
    CostlyRequest(.stateSet, "propose", setup: [guardedForm]) {
        set(changeAll, #","propose":true"#)
    },
    CostlyRequest(.stateSubscribe, "proposals", setup: waiting) {
        call(.stateSubscribe, #"{"form":"f"}"#)
    },
    CostlyRequest(.proposalList, "many", setup: waiting) { call(.proposalList, "{}") },
    CostlyRequest(.proposalApprove, "large", setup: large) { vote(.proposalApprove) },
    CostlyRequest(.proposalRefuse, "large", setup: large) { vote(.proposalRefuse) },
    CostlyRequest(.proposalWithdraw, "many", setup: waiting) { vote(.proposalWithdraw) },
]
