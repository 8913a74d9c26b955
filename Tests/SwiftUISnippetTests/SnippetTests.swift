// Every snippet of the documents on SwiftUI compiles here, as it is or after edits that a test makes.

import Foundation
import PickerSync
import Testing

@Suite("The snippets of SwiftUI's documents")
struct SnippetTests {
    private let originals: [Int: String]
    private let ports: [Snippet]

    init() throws {
        originals = try Snippet.originals()
        ports = try Snippet.ports()
    }

    @Test("each snippet is in this folder once, with a mark")
    func complete() {
        #expect(originals.count == 93)
        #expect(ports.map(\.number).sorted() == originals.keys.sorted())
    }

    @Test("at least 75 need mechanical edits alone, at most 6 cannot be written")
    func bars() {
        var (mechanical, changed, cannot) = (0, 0, 0)
        for port in ports {
            switch port.mark {
            case .unchanged, .mechanical: mechanical += 1
            case .changed: changed += 1
            case .cannot: cannot += 1
            }
        }
        #expect(mechanical >= 75, "\(mechanical) with mechanical edits, \(changed) changed")
        #expect(cannot <= 6)
    }

    @Test("a port is its original after the edits that it names, and nothing else")
    func edits() throws {
        for port in ports {
            var code = try #require(originals[port.number])
            switch port.mark {
            case .unchanged: #expect(Snippet.essence(port.code) == Snippet.essence(code))
            case .changed(let why): #expect(!why.isEmpty && !Snippet.essence(port.code).isEmpty)
            case .cannot(let why): #expect(!why.isEmpty && Snippet.essence(port.code).isEmpty)
            case .mechanical(["declaration"]): try used(port, code)
            case .mechanical(let edits):
                for edit in edits {
                    code = try #require(
                        MechanicalEdit.make(edit, on: code), "\(port.number): \(edit)")
                }
                let (made, written) = (Snippet.essence(code), Snippet.essence(port.code))
                if edits.contains("completed") {
                    #expect(written.hasPrefix(made), "\(port.number)")
                } else {
                    #expect(written == made, "\(port.number)")
                }
            }
        }
    }

    /// A declaration is used by its name and with its labels.
    private func used(_ port: Snippet, _ declaration: String) throws {
        let labels = declaration.drop { $0 != "(" }.matches(of: /\b([a-z]\w+)(?= \w+:|:)/).map {
            String($0.1)
        }
        let names = declaration.matches(of: /(?:struct|class|protocol|func|var|let) (\w+)/).map {
            String($0.1).replacing("UIPicker", with: "Picker")
        }
        for word in labels + names {
            #expect(port.code.contains(word), "\(port.number) does not use \(word)")
        }
    }

    @Test(
        "the forms that the snippets make are forms",
        arguments: [
            FlavorList(), SubtitledList(), EachFlavor(), SuggestedTopping(), SegmentedPickers(),
            AutomaticFruit(), InlineFruit(), MenuFruit(), LinkedFruit(), Reactions(),
            CustomPalette(), FlagPalette(), CustomPaletteByID(), FlagPaletteByID(), Actions(),
            StyledButtons(), SignIn(), PromptedSignIn(), LabeledToggle(), PicturedToggle(),
            TitledToggle(), SubtitledToggle(), SwitchToggles(), SpeedSlider(), SpeedSteps(),
            ColorStepper(), StepperView(), SimpleGauge(), LabeledGauge(), Circular.LabeledGauge(),
            StyledGauge(), StartDate(), SubtitledDate(), DateRange(), GraphicalDate(),
            IncomeViewController(), WatchedDate(), Declared(),
        ] as [any SharedForm])
    func forms(form: any SharedForm) throws {
        _ = try form.definition()
    }
}
