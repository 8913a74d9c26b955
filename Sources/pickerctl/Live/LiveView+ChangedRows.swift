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
// do more (hide a control, begin a conflict) makes everything stale, as any other event does, so
// the last frame's environment and places are those of the rows. A random test compares these
// frames with frames that are drawn without a cache.

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
    /// The controls whose values a change by somebody else has changed, and what it must leave as
    /// it was, so that only their rows are stale.
    struct RowChange {
        let controls: [Int]
        let message: Message?
    }

    /// Whether an event that is about to be handled may change the rows of some controls and no
    /// more.
    func mayBeRows(_ event: LiveEvent, at time: UInt64) -> Bool {
        guard case .client(.changed(let change)) = event, hasOnlyRows else { return false }
        // A tick that is due changes what depends on time.
        return deadline.map { $0 > time } ?? true
            && !change.changes.indices.contains { presentation.isMine(change.changes[$0].state.by) }
    }

    /// After an event: marks what it has made stale. Returns whether that is only rows.
    mutating func noteStale(_ change: RowChange?) -> Bool {
        guard let change, change.message == message,
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
        if case .button = presentation.definition.controls[index].kind { return true }
        return folded.contains(presentation.definition.controls[index].section)
    }

    /// Whether each control is drawn without the values of others, the time and what is over the
    /// form. A change by somebody else makes none of this so but a conflict, a run or a lease.
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

    /// Draws the stale rows into the last frame; `nil` if a whole frame is needed.
    mutating func drawChangedRows() -> Canvas? {
        // Moved out, so that changing it does not copy it.
        var last: Canvas?
        swap(&last, &drawn.frame)
        guard case .rows(let controls) = stale, mode == .form, var canvas = last.take(),
            let environment = drawn.environment, areWordsCurrent(drawn)
        else { return nil }
        let window = geometry.window.inset(right: 1)
        var changed: Range<Int>?
        for index in controls where presentation.isVisible(index) {
            let control = presentation.definition.controls[index].id
            guard let frame = geometry.frames.last(where: { $0.owner == control })?.rect else {
                return nil
            }
            var place = frame
            place.x = window.x
            place.y += window.y - scroll.offset
            let row = view(index, look(index), environment)
            guard row.measure(width: place.columns).lines == place.lines,
                canvas.drawAgain(control, row, at: place, in: window)
            else { return nil }
            let known = changed ?? place.y..<place.y
            changed = min(known.lowerBound, place.y)..<max(known.upperBound, place.maxY)
        }
        stale = .rows([])
        geometry.regions = canvas.regions
        drawnLines = changed ?? 0..<0
        drawn.frame = canvas
        return canvas
    }
}
