// A frame in which only the rows of some controls differ from the frame before it.
//
//                 a change by somebody else
//   rows of [] ──────────────────────────────▶ rows of [controls]
//     ▲    └───────── any other event ─────────────┤
//     │                                            ▼
//     └──────────── a frame is drawn ───────── everything
//
// Nearly all frames of a form that several people have open are changes by somebody else. Such a
// frame needs the look of one control instead of all.
//
// Invariants: `stale` has every control whose row may differ from the last frame. A change that can
// do more (move the focus, hide a control, begin a conflict) makes everything stale. A random test
// compares these frames with frames that are drawn without a cache.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// What has to be drawn again.
enum StaleParts: Equatable {
    case everything
    /// The rows of these controls, by number, ascending.
    case rows([Int])

    mutating func add(_ controls: [Int]) {
        guard case .rows(let known) = self else { return }
        self = .rows(known.isEmpty ? controls : (known + controls).sortedDistinct())
    }
}

extension LiveModel {
    /// What a change by somebody else must leave as it is, so that only rows are stale.
    struct RowChange: Equatable {
        fileprivate let controls: [Int]
        fileprivate let visible: [Bool]
        fileprivate let focus: Focus?
        fileprivate let message: Message?
    }

    /// The controls that an event changes, before it is handled; `nil` if it may change more.
    func rowChange(_ event: LiveEvent, at time: UInt64) -> RowChange? {
        guard case .client(.changed(let change)) = event, hasOnlyRows,
            flashes.values.allSatisfy({ $0.next(after: now) > time }),
            !change.changes.contains(where: { presentation.isMine($0.state.by) })
        else { return nil }
        return rowChange(of: presentation.controls(showing: change.changes.map(\.field)))
    }

    private func rowChange(of controls: [Int]) -> RowChange {
        RowChange(
            controls: controls, visible: controls.map(presentation.isVisible), focus: focus,
            message: message)
    }

    /// After an event: marks what it has made stale. Returns whether that is only rows.
    mutating func noteStale(_ change: RowChange?) -> Bool {
        guard let change, hasOnlyRows, rowChange(of: change.controls) == change,
            !change.controls.contains(where: { $0 == focusedIndex || isLeftOutOfRows($0) })
        else {
            stale = .everything
            return false
        }
        stale.add(change.controls)
        return true
    }

    /// Whether a control is drawn in a row with others, or counted in the title of its section.
    private func isLeftOutOfRows(_ index: Int) -> Bool {
        let control = presentation.definition.controls[index]
        if case .button = control.kind { return true }
        return folded.contains(control.section)
    }

    /// Whether each control is drawn without the values of others, the time and what is over the
    /// form.
    private var hasOnlyRows: Bool {
        mode == .form && page == .form && isOnline && activeEdit == nil && question == nil
            && slide == nil && pressed == nil && cards == nil && brokenGlass.by == nil
            && presentation.proposals.isEmpty
            && presentation.others.allSatisfy { $0.wire.draft == nil }
            && presentation.hasOnlyValues
    }

    /// Whether the header and the footer are those of the last frame. A change by somebody else of
    /// a control without the focus can change one part of them: what undo would take back is
    /// written in the words of controls that may show the changed value too.
    private func areWordsCurrent(_ drawn: DrawnParts) -> Bool {
        ownEdits.done.isEmpty || drawn.isCurrent(hintsLook)
    }

    /// The last frame with the stale rows drawn again; `nil` if a whole frame is needed.
    func screenWithChangedRows(_ drawn: inout DrawnParts) -> LiveScreen? {
        let environment = environment(&drawn)
        // Moved out, so that changing it does not copy it.
        var last: Canvas?
        swap(&last, &drawn.frame)
        guard case .rows(let controls) = stale, var canvas = last.take(),
            drawn.isFor(size: size, definition: presentation.definitions, environment),
            areWordsCurrent(drawn)
        else { return nil }
        let window = geometry.window.inset(right: 1)
        var changed: Range<Int>?
        for index in controls where presentation.isVisible(index) {
            let control = presentation.definition.controls[index].id
            guard let frame = geometry.frames.last(where: { $0.owner == control })?.rect else {
                return nil
            }
            let picture = drawing(
                of: [VisibleControl(index: index, look: look(index))], environment,
                columns: frame.columns, &drawn)
            let place = Point(x: window.x, y: window.y + frame.y - scroll.offset)
            guard picture.buffer.lines == frame.lines,
                canvas.drawAgain(control, picture, at: place, in: window)
            else { return nil }
            let known = changed ?? place.y..<place.y
            changed =
                min(known.lowerBound, place.y)..<max(known.upperBound, place.y + frame.lines)
        }
        var geometry = geometry
        geometry.regions = canvas.regions
        return LiveScreen(
            canvas: canvas, geometry: geometry, scroll: scroll, changedLines: changed ?? 0..<0)
    }
}
