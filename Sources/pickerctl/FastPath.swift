/// Commands that need no ArgumentParser for plain command lines: see `PlainWords`.
enum FastPath {
    /// The request of a plain command line; `nil` leaves it to ArgumentParser.
    static func request(_ line: [String]) -> (any PlainRequest)? {
        guard let verb = line.first else { return nil }
        if verb == "form" { return formRequest(line.dropFirst()) }
        var words = PlainWords(line.dropFirst())
        let request: any PlainRequest
        switch verb {
        case "get": request = GetRequest(&words)
        case "set": request = SetRequest(&words)
        case "watch": request = WatchRequest(&words)
        case "wait": request = WaitRequest(&words)
        case "toggle": request = RelativeRequest(.toggle, &words)
        case "next": request = RelativeRequest(.next, &words)
        case "previous": request = RelativeRequest(.previous, &words)
        case "reset": request = RelativeRequest(.reset, &words)
        case "lease": request = LeaseRequest(&words)
        case "press": request = RelativeRequest(.press, &words)
        case "describe": request = DescribeRequest(&words)
        case "history": request = HistoryRequest(&words)
        case "explain": request = ExplainRequest(&words)
        case "undo": request = UndoRequest(isRedo: false, &words)
        case "redo": request = UndoRequest(isRedo: true, &words)
        case "conflicts": request = ConflictsRequest(&words)
        case "resolve": request = ResolveRequest(&words)
        case "who": request = WhoRequest(&words)
        case "status": request = StatusRequest(&words)
        case "doctor": request = DoctorRequest(&words)
        case "dump": request = DumpRequest(&words)
        case "load": request = LoadRequest(&words)
        default: return nil
        }
        return words.isSpent ? request : nil
    }

    private static func formRequest(_ line: ArraySlice<String>) -> (any PlainRequest)? {
        guard let verb = line.first else { return nil }
        var words = PlainWords(line.dropFirst())
        let request: any PlainRequest
        switch verb {
        case "list": request = FormListRequest(&words)
        case "show": request = FormShowRequest(&words)
        case "check": request = FormCheckRequest(&words)
        default: return nil
        }
        return words.isSpent ? request : nil
    }
}
