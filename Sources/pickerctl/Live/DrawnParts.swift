// Parts of the screen as they were drawn, so that a frame draws anew only what looks otherwise.
//
// Always holds: a kept drawing is used only where everything that the part is made of is equal
// (its `PartLook`): what a part comes to depend on has to stand there. A test at random compares
// each frame with one that is drawn from nothing.

internal import SyncCore
internal import TerminalUI

/// Drawings of parts by their place; looked up, never gone through.
struct DrawnParts {
    /// What all drawings have in common; another empties the room.
    private struct Common: Equatable {
        var size: Size
        var labelColumns: Int
        var theme: Theme
        var depth: ColorDepth
        var charset: Charset
        var definition: Int
    }

    private var common: Common?
    private var drawings: [PartLook.Place: (look: PartLook, canvas: Canvas)] = [:]

    /// Makes ready for a frame of these measures.
    mutating func begin(size: Size, definition: Int, _ environment: StyleEnvironment) {
        let wanted = Common(
            size: size, labelColumns: environment.labelColumns, theme: environment.theme,
            depth: environment.depth, charset: environment.charset, definition: definition)
        if common != wanted { drawings = [:] }
        common = wanted
    }

    /// The drawing of a part that looks so; it is made where there is none.
    mutating func drawing(
        of look: PartLook, columns: Int, _ make: () -> some Block
    ) -> Canvas {
        if let kept = drawings[look.place], kept.look == look { return kept.canvas }
        let canvas = Canvas.drawing(make(), columns: columns)
        drawings[look.place] = (look, canvas)
        return canvas
    }
}

/// All that a part of the screen is made of, beside the definition, the size and the environment.
enum PartLook: Equatable {
    case header(HeaderLook)
    case footer(FooterLook)
    /// The words about the form or a section.
    case note(String)
    case section(SectionLook)
    case control(String, ControlLook)

    /// Which drawing a part's is kept as.
    enum Place: Hashable {
        case header, footer
        case note(String)
        case section(Int)
        case control(String)
    }

    var place: Place {
        switch self {
        case .header: .header
        case .footer: .footer
        case .note(let text): .note(text)
        case .section(let look): .section(look.number)
        case .control(let field, _): .control(field)
        }
    }
}

/// All that the title of a form is made of.
struct HeaderLook: Equatable {
    var link: FormMirror.Link
    var others: [LivePeer]
}

/// All that the hints are made of.
struct FooterLook: Equatable {
    var page: LiveModel.Page
    var focus: LiveModel.Focus?
    var hold: Hold?
    var conflicts: Int
    var keys: KeyMap
    var message: LiveModel.Message?
    var help: String?
}

/// All that the title of a section is made of.
struct SectionLook: Equatable {
    var number: Int
    var isFocused: Bool
    var isFolded: Bool
    /// Controls in it that miss a value or have a wrong one, where it is folded.
    var problems: Int
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
    /// What the title is made of now.
    var headerLook: PartLook {
        .header(HeaderLook(link: mirror.link, others: mirror.others.map(\.peer)))
    }

    /// What the hints are made of now.
    var footerLook: PartLook {
        .footer(
            FooterLook(
                page: page, focus: focus, hold: hold,
                conflicts: focusedIndex.map { conflict($0).count } ?? 0, keys: around.keys,
                message: message, help: message == nil ? help : nil))
    }

    /// What the title of a section is made of now.
    func sectionLook(_ section: FormSection, _ number: Int) -> SectionLook {
        let isFolded = folded.contains(number)
        let problems = section.fields.count { shown($0).isMissing || shown($0).isInvalid }
        return SectionLook(
            number: number, isFocused: focus == .section(number), isFolded: isFolded,
            problems: isFolded ? problems : 0)
    }

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
