// The focus, and how it moves.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// All focusable elements, in the order of the form.
    var focusable: [Focus] {
        var list: [Focus] = []
        let definition = presentation.definition
        if case .pick(let field, _) = mode { return [.control(field)] }
        list.reserveCapacity(definition.controls.count)
        for (number, section) in definition.sections.enumerated() {
            let visible = section.fields.filter { presentation.isVisible($0) }
            if visible.isEmpty { continue }
            if folded.contains(number) {
                list.append(.section(number))
                continue
            }
            for index in visible {
                if case .label = definition.controls[index].kind { continue }
                list.append(.control(definition.controls[index].id))
            }
        }
        return list
    }

    /// Keeps the focus on the same element; if that is gone, moves it to the nearest. Returns all
    /// focusable elements.
    mutating func keepFocus() -> [Focus] {
        let all = focusable
        if let activeEdit {
            if all.contains(.control(activeEdit.field)) { return all }
            // The control was hidden or folded while it was edited.
            keepAsDraft()
        }
        guard let focus else {
            self.focus = all.first
            return all
        }
        if all.contains(focus) { return all }
        followsFocus = true
        self.focus = folded(over: focus, all) ?? nearest(focus, all) ?? all.first
        return all
    }

    /// The title of the section that was folded over a control, or whose title the focus was.
    private func folded(over focus: Focus, _ all: [Focus]) -> Focus? {
        switch focus {
        case .section(let number):
            return all.first { candidate in
                guard case .control(let field) = candidate else { return false }
                return presentation.index(field).map {
                    presentation.definition.controls[$0].section
                } == number
            }
        case .control(let field):
            let section = presentation.index(field).map {
                presentation.definition.controls[$0].section
            }
            return section.map { .section($0) }.flatMap { all.contains($0) ? $0 : nil }
        }
    }

    /// The nearest element after it, otherwise before it, that still exists.
    private func nearest(_ focus: Focus, _ all: [Focus]) -> Focus? {
        guard let place = order.firstIndex(of: focus) else { return nil }
        return order[place...].first { all.contains($0) }
            ?? order[..<place].last { all.contains($0) }
    }

    mutating func moveFocus(to focus: Focus) {
        if focus != self.focus, let field = focusedField { leftEmpty.insert(field) }
        // When a control gets the focus, the highlight is at its value, or at the first part of a
        // date.
        for case .control(let field)? in [focus, self.focus] {
            if focus != self.focus { parts[field] = nil }
            cursors[field] = nil
        }
        self.focus = focus
        followsFocus = true
        stale = .everything
    }

    /// Moves to the next or previous control; stops at the ends.
    mutating func moveFocus(by steps: Int, _ commands: inout [LiveCommand]) {
        commitEdit(&commands)
        let all = focusable
        guard !all.isEmpty else { return }
        let here = focus.flatMap { all.firstIndex(of: $0) } ?? 0
        moveFocus(to: all[min(max(here + steps, 0), all.count - 1)])
    }

    /// Moves by about one page.
    mutating func movePage(_ direction: Int, _ commands: inout [LiveCommand]) {
        commitEdit(&commands)
        let all = focusable
        guard let focus, let here = all.firstIndex(of: focus),
            let frame = frame(of: focus)
        else { return }
        let goal = frame.y + direction * max(1, geometry.window.lines - 2)
        var best = here
        var index = here + direction
        while all.indices.contains(index) {
            guard let place = self.frame(of: all[index]) else { break }
            best = index
            if direction > 0 ? place.y >= goal : place.y <= goal { break }
            index += direction
        }
        moveFocus(to: all[best])
    }

    private func frame(of focus: Focus) -> Rect? {
        geometry.frames.first { $0.owner == Self.owner(of: focus) }?.rect
    }

    /// The region name of a focus.
    static func owner(of focus: Focus) -> String {
        switch focus {
        case .control(let field): field
        case .section(let number): "#\(number)"
        }
    }

    /// The focus of a region name; ids have no `#`.
    static func focus(of owner: String) -> Focus {
        if owner.hasPrefix("#"), let number = Int(owner.dropFirst()) { return .section(number) }
        return .control(owner)
    }

    mutating func fold(_ section: Int) {
        if folded.contains(section) {
            folded.remove(section)
            let first = presentation.definition.sections[section].fields.first {
                presentation.isVisible($0)
            }
            if let first { moveFocus(to: .control(presentation.definition.controls[first].id)) }
        } else {
            folded.insert(section)
            moveFocus(to: .section(section))
        }
    }

    /// The section that the focus is in.
    var focusedSection: Int? {
        switch focus {
        case .section(let number)?: number
        case .control(let field)?:
            presentation.index(field).map { presentation.definition.controls[$0].section }
        case nil: nil
        }
    }
}
