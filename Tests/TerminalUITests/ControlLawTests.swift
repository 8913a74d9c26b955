import Testing

@testable import SyncCore
@testable import TerminalUI

@Suite struct ControlLawTests {
    private func drawn(
        _ sample: Sample, _ state: ControlState, _ environment: StyleEnvironment, columns: Int
    ) -> Canvas {
        Canvas.drawing(AnyBlock(sample.make(state).block(in: environment)), columns: columns)
    }

    @Test("each state can be told from rest without any colour", arguments: ControlSamples.names)
    func tellable(name: String) throws {
        let sample = try #require(ControlSamples.named(name))
        let bare = StyleEnvironment(theme: .harbor, depth: .none)
        let rest = drawn(sample, ControlState(), bare, columns: 80).buffer
        for (title, state) in sample.states.dropFirst() {
            // Text, labels and open lists are not mixed by themselves: the model shows nothing.
            if title == "mixed", !ControlSamples.showsMixed.contains(where: name.hasPrefix) {
                continue
            }
            let other = drawn(sample, state, bare, columns: 80).buffer
            #expect(other != rest, "\(name) \(title) looks as at rest")
        }
    }

    @Test(
        "a note of wheels is on the line of their label and selection",
        arguments: ControlSamples.names.filter { $0.contains("wheel") })
    func notesOfWheels(name: String) throws {
        let sample = try #require(ControlSamples.named(name))
        let state = ControlState(validity: .invalid("refused"))
        let bare = StyleEnvironment(theme: .harbor, depth: .none)
        let buffer = drawn(sample, state, bare, columns: 80).buffer
        let noted = (0..<buffer.lines).map(buffer.text(ofLine:)).filter { $0.contains("refused") }
        let line = try #require(noted.first)
        #expect(line.dropFirst(4).first?.isLetter ?? false, "\(line)")
        #expect(line.contains("▸") && line.contains("◂"), "\(line)")
    }

    @Test("a control of any state can be drawn at any size", arguments: ControlSamples.names)
    func anyRoom(name: String) throws {
        let sample = try #require(ControlSamples.named(name))
        let environment = StyleEnvironment(theme: .paper)
        for (_, state) in sample.states {
            for columns in [0, 1, 2, 3, 5, 8, 13, 21, 34, 40, 55, 61, 74, 130] {
                let block = AnyBlock(sample.make(state).block(in: environment))
                let size = block.measure(width: columns)
                #expect(size.columns <= columns && size.lines >= 0)
                for lines in [0, 1, size.lines] {
                    let canvas = Canvas.drawing(block, columns: columns, lines: lines)
                    let bounds = canvas.buffer.bounds
                    for region in canvas.regions {
                        #expect(region.rect.intersection(bounds).lines == region.rect.lines)
                    }
                    if let cursor = canvas.cursor { #expect(bounds.contains(cursor)) }
                }
            }
        }
    }

    @Test(
        "in ASCII nothing but the form's own text is outside of it", arguments: ControlSamples.names
    )
    func ascii(name: String) throws {
        let sample = try #require(ControlSamples.named(name))
        let environment = StyleEnvironment(theme: .paper, charset: .ascii)
        for (_, state) in sample.states {
            let buffer = drawn(sample, state, environment, columns: 80).buffer
            for y in 0..<buffer.lines {
                // Typographic marks get their likeness when the frame is encoded.
                let foreign = buffer.text(ofLine: y).filter {
                    Charset.ascii($0, width: 1).contains("?") && !"?日本語👍👎❤️❓".contains($0)
                }
                #expect(foreign.isEmpty, "\(name): \(foreign)")
            }
        }
    }

    @Test("no text of a form, a value or a name reaches the terminal raw")
    func hostile() {
        let evil = "x\u{1B}]0;pwned\u{7}\u{9B}2J\u{202E}y\u{2028}z\n\t"
        let peer = Peer(name: evil, number: 1)
        let value = PeerValue(value: .string(evil), text: evil, by: peer, when: evil)
        var option = PickerOption(tag: .string(evil), label: evil)
        option.subtitle = evil
        option.symbol = evil
        let label = ControlLabel(evil, subtitle: evil, symbol: evil, isRequired: true)
        for state in [
            ControlState(
                isFocused: true, validity: .invalid(evil), ghost: value, held: value, flash: peer,
                peers: [peer]),
            ControlState(),
        ] {
            var views: [any ControlView] = [
                ConflictView(label: label, cards: [value, value], choice: 1, state: state)
            ]
            for style in ControlStyle.styles(for: .picker) {
                for selection in [
                    PickerStyleConfiguration.Selection.tags([.string(evil)]), .unmatched(evil),
                ] {
                    var configuration = PickerStyleConfiguration(
                        label: label, options: [option],
                        groups: [OptionGroup(title: evil, range: 0..<1)], selection: selection,
                        state: state)
                    configuration.presentation = .open(OpenList(options: [option], at: 0))
                    views.append(
                        PickerView(configuration).environment {
                            $0 = $0.styled(style, for: .picker)
                        })
                }
            }
            views.append(
                TextView(
                    label: label, editor: TextEditor(evil), prompt: evil, isEditing: true,
                    state: state))
            views.append(
                TextView(label: label, editor: TextEditor(evil, isMultiline: true), state: state))
            views.append(LabelView(label: nil, text: evil, state: state))
            views.append(StepperView(label: label, valueText: evil, state: state))
            views.append(
                WheelsView(
                    label: label,
                    components: [.init(label: evil, options: [option], selected: 0)], state: state))
            views.append(
                ButtonView(
                    PrimitiveButtonStyleConfiguration(
                        label: label, confirm: evil, phase: .confirming(onConfirm: true),
                        state: state)))
            for view in views {
                for columns in [30, 80] {
                    let block = AnyBlock(view.block(in: StyleEnvironment()))
                    let buffer = Canvas.drawing(block, columns: columns).buffer
                    for y in 0..<buffer.lines {
                        let harmful = buffer.text(ofLine: y).unicodeScalars.contains(
                            where: SafeText.isHarmful)
                        #expect(!harmful, "\(type(of: view)) draws a harmful character")
                    }
                }
            }
        }
    }

    @Test("a secret shows neither its text nor, once it is kept, its length")
    func secrets() {
        func text(_ view: SecureView) -> String {
            let block = AnyBlock(view.block(in: StyleEnvironment()))
            return Canvas.drawing(block, columns: 80).buffer.text(ofLine: 0)
        }
        let typed = text(
            SecureView(label: ControlLabel("T"), isSet: false, editor: TextEditor("hunter2")))
        #expect(!typed.contains("hunter2") && typed.contains("•••••••"))
        #expect(text(SecureView(label: ControlLabel("T"), isSet: true)).contains("•••••••• "))
    }
}
