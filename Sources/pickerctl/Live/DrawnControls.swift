// Controls as they were drawn, so that a frame draws anew only what looks otherwise.
//
// Always holds: a kept drawing is used only where everything that the view is made of is equal
// (`LiveModel.look`): what a view comes to depend on has to stand there. A test at random compares
// each frame with one that is drawn from nothing.

internal import SyncCore
internal import TerminalUI

/// Drawings of controls by field; looked up, never gone through.
struct DrawnControls {
    /// What all drawings have in common; another empties the room.
    private struct Common: Equatable {
        var columns: Int
        var lines: Int
        var labelColumns: Int
        var theme: Theme
        var depth: ColorDepth
        var charset: Charset
        var definition: Int
    }

    private var common: Common?
    private var drawings: [String: (look: ControlLook, canvas: Canvas)] = [:]

    /// Makes ready for a frame of these measures.
    mutating func begin(
        columns: Int, lines: Int, definition: Int, _ environment: StyleEnvironment
    ) {
        let wanted = Common(
            columns: columns, lines: lines, labelColumns: environment.labelColumns,
            theme: environment.theme, depth: environment.depth, charset: environment.charset,
            definition: definition)
        if common != wanted { drawings = [:] }
        common = wanted
    }

    /// The drawing of a control that looks so; it is made where there is none.
    mutating func drawing(
        of field: String, _ look: ControlLook, _ make: () -> any Block
    ) -> Canvas {
        if let kept = drawings[field], kept.look == look { return kept.canvas }
        let canvas = Canvas.drawing(AnyBlock(make()), columns: common?.columns ?? 0)
        drawings[field] = (look, canvas)
        return canvas
    }
}

/// All that the view of a control is made of, beside its definition and the environment.
struct ControlLook: Equatable {
    var state: ControlState
    var shown: ShownValue
    var text: String
    var template: String?
    var hold: Hold?
    var cursor: Int?
    var part: Int?
    var month: YearMonth?
    var draft: TextEditor?
    var isPressed: Bool
    var isSecretSet: Bool?
    var hasCapsLock: Bool
    var today: CivilDate?
}

extension LiveModel {
    /// What the view of a control is made of now.
    func look(_ index: Int) -> ControlLook {
        let control = mirror.definition.controls[index]
        let field = control.id
        var template: String?
        if case .picker(let picker) = control.kind, let label = picker.currentValueLabel {
            template = mirror.definition.render(label, of: index, values: mirror.stored)
        }
        let isPicker = if case .picker = control.kind { true } else { false }
        return ControlLook(
            state: state(index), shown: shown(index), text: valueText(index), template: template,
            hold: hold?.field == field ? hold : nil, cursor: isPicker ? cursor(index) : nil,
            part: parts[field], month: months[field], draft: drafts[field],
            isPressed: pressed?.field == field, isSecretSet: mirror.state(field)?.isSecretSet,
            hasCapsLock: hasCapsLock, today: around.today)
    }
}
