/// What `watch` was asked for.
struct WatchOptions: Equatable {
    enum Format: String, CaseIterable { case text, json, value }

    var fields: [String] = []
    var format = Format.text
    var since: Int64?
    var showsInitial = false
    var count: Int?
    var timeoutSeconds: Double?
    var debounceSeconds = 0.0
    var until: String?
    var command: String?
    var keepsLatest = false
}
