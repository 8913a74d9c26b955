// `binds` and `sources`: resolves chains to the controls that store the value, and rejects cycles
// and domains that do not fit.

extension FormParser {
    /// The reference of a control.
    private enum Link {
        case own
        case binds(Int)
        case sources([Int])
    }

    /// Sets storage and policy of every control.
    mutating func resolveBindings() {
        namedBy = Array(repeating: -1, count: fields.count)
        var links = fields.indices.map { link(of: $0) }
        breakCycles(&links)
        var roots: [[Int]?] = Array(repeating: nil, count: fields.count)
        var total = 0
        for index in fields.indices {
            resolveRoots(of: index, links, &roots, &total)
            if total > limits.edgesMax {
                issue(
                    Place(), "too many controls derive from each other", expected: "fewer sources")
                return
            }
        }
        for index in fields.indices {
            switch links[index] {
            case .own: break
            case .binds(let other):
                let place = fields[index].place(of: "binds")
                check(index, inside: other, at: place)
                controls[index].storage = Self.storage(binding: other, links, roots)
                inheritPolicy(index)
            case .sources(let sources):
                let place = fields[index].place(of: "sources")
                for (number, other) in sources.enumerated() {
                    check(index, inside: other, at: place.at(.index(number)))
                }
                controls[index].storage = .sources(roots[index] ?? [])
            }
        }
    }

    private mutating func link(of index: Int) -> Link {
        let field = fields[index]
        guard let kind = kinds[index] else { return .own }
        let hasSources = field["sources"] != nil
        if field["binds"] != nil, hasSources {
            issue(
                field.place(of: "sources"), "it binds a control already",
                expected: "either binds or sources")
        }
        if let id = string(field, "binds") {
            if case .label = kind {
                issue(field.place(of: "binds"), "a label has no value", expected: "no binding")
                return .own
            }
            let other = self.control(named: id, at: field.place(of: "binds"))
            return other.map { .binds($0) } ?? .own
        }
        guard hasSources, let json = field["sources"] else { return .own }
        return sources(json, of: index, at: field.place(of: "sources"))
    }

    private mutating func sources(_ json: JSON, of index: Int, at place: Place) -> Link {
        guard case .array(let written) = json else {
            _ = elements(json, at: place)
            return .own
        }
        var sources: [Int] = []
        sources.reserveCapacity(written.count)
        for (number, element) in written.enumerated() {
            guard case .string(let id) = element else {
                issue(
                    place.at(.index(number)), "found \(FormDefinition.described(element))",
                    expected: "the id of a control")
                continue
            }
            guard let other = self.control(named: id, at: place.at(.index(number))) else {
                continue
            }
            if namedBy[other] != index {
                namedBy[other] = index
                sources.append(other)
            } else {
                issue(
                    place.at(.index(number)), "\(id) is a source already",
                    expected: "another control")
            }
        }
        if written.isEmpty {
            issue(place, "the list of sources is empty", expected: "at least one control")
        }
        return sources.isEmpty ? .own : .sources(sources)
    }

    // MARK: Cycles

    /// Reports each cycle once and removes an edge, so that parsing can continue.
    private mutating func breakCycles(_ links: inout [Link]) {
        enum Mark { case new, open, done }
        var marks = Array(repeating: Mark.new, count: links.count)
        for start in links.indices where marks[start] == .new {
            // An explicit stack, because a chain may be as long as a form.
            var stack: [(control: Int, next: Int)] = [(start, 0)]
            marks[start] = .open
            while let (control, next) = stack.last {
                let others = Self.others(links[control])
                guard next < others.count else {
                    marks[control] = .done
                    stack.removeLast()
                    continue
                }
                stack[stack.count - 1].next += 1
                let other = others[next]
                switch marks[other] {
                case .new:
                    marks[other] = .open
                    stack.append((other, 0))
                case .open:
                    let cycle = stack.map(\.control).drop { $0 != other } + [other]
                    reportCycle(Array(cycle))
                    links[control] = .own
                    marks[control] = .done
                    stack.removeLast()
                case .done: break
                }
            }
        }
    }

    private mutating func reportCycle(_ cycle: [Int]) {
        let names = cycle.prefix(8).map { controls[$0].id }
        let member = fields[cycle[cycle.count - 2]]
        let name = member["binds"] != nil ? "binds" : "sources"
        issue(
            member.place(of: name),
            "the references form a cycle: " + names.joined(separator: " → ")
                + (cycle.count > 8 ? " → …" : ""),
            expected: "a reference to a control outside the cycle")
    }

    private static func others(_ link: Link) -> [Int] {
        switch link {
        case .own: []
        case .binds(let other): [other]
        case .sources(let others): others
        }
    }

    // MARK: Roots

    /// The controls that store a control's value, ascending. There are no cycles.
    private func resolveRoots(
        of start: Int, _ links: [Link], _ roots: inout [[Int]?], _ total: inout Int
    ) {
        var stack = [start]
        while let index = stack.last {
            if roots[index] != nil {
                stack.removeLast()
                continue
            }
            let others = Self.others(links[index])
            if others.contains(where: { roots[$0] == nil }) {
                stack += others.lazy.filter { roots[$0] == nil }
                continue
            }
            let found = others.flatMap { roots[$0] ?? [] }.sortedDistinct()
            roots[index] = others.isEmpty ? [index] : found
            total += found.count
            if total > limits.edgesMax { return }
            stack.removeLast()
        }
    }

    /// A chain of bindings ends at one control that stores a value, or at one with several sources.
    private static func storage(
        binding other: Int, _ links: [Link], _ roots: [[Int]?]
    ) -> Control.Storage {
        var end = other
        while case .binds(let next) = links[end] { end = next }
        if case .sources = links[end] { return .sources(roots[end] ?? []) }
        return .binds(end)
    }

    private mutating func inheritPolicy(_ index: Int) {
        guard case .binds(let root) = controls[index].storage, kinds[root] != nil else { return }
        let policy = controls[root].conflictPolicy
        if fields[index]["onConflict"] != nil, controls[index].conflictPolicy != policy {
            issue(
                fields[index].place(of: "onConflict"),
                "it stores nothing of its own", expected: "onConflict at \(controls[root].id)")
        }
        controls[index].conflictPolicy = policy
    }

    // MARK: Domains

    private mutating func check(
        _ index: Int, inside other: Int, at place: @autoclosure () -> Place
    ) {
        guard let own = kinds[index], let container = kinds[other] else { return }
        // All toggles have the same domain. With many sources, comparing two controls each time
        // would take most of the time.
        if case .toggle = own, case .toggle = container { return }
        guard comparisons <= Self.comparisonsMax else { return }
        comparisons += own.optionLists.isEmpty ? 1 : own.optionLists.reduce(0) { $0 + $1.count }
        guard comparisons <= Self.comparisonsMax else {
            issue(
                place(), "too many options are compared with those of other controls",
                expected: "fewer sources, or fewer options")
            return
        }
        let problem = Inclusion.problem(of: controls[index], inside: controls[other]) {
            own, outer in
            tagNumbers.stranger(of: own, in: outer)
        }
        guard let problem else { return }
        issue(place(), problem, expected: "only values that \(controls[other].id) takes")
    }
}

extension ControlKind {
    /// The options of a picker, or the rows of wheels.
    var optionLists: [OptionList] {
        switch self {
        case .picker(let picker): [picker.options]
        case .wheels(let wheels):
            wheels.components.flatMap { [$0.options] + $0.rules.map(\.options) }
        case .toggle, .slider, .stepper, .date, .text, .secure, .gauge, .button, .label: []
        }
    }
}
