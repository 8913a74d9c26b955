import Foundation
import TestKit
import Testing

/// `pickerctl form preview`: a form file as a terminal shows it.
@Suite struct PreviewTests {
    private static let form = """
        form: lunch
        title: Lunch
        fields:
          - {id: flavor, type: picker, label: Flavor, options: [mint, lemon], style: segmented}
          - {id: scoops, type: stepper, label: Scoops, min: 1, max: 5, default: 2}
        """

    @Test("a file is shown with its defaults, without a daemon, in the width that is asked for")
    func plain() throws {
        let bench = try Bench(starting: false)
        let path = try bench.file("lunch.yaml", Self.form)
        let outcome = try bench.run("form", "preview", path)
        #expect(outcome.status == 0 && outcome.err == "")
        #expect(outcome.out.hasPrefix("Lunch\n") && outcome.out.contains("[−]   2   [+]"))
        #expect(!outcome.out.contains("\u{1B}"))
        let narrow = try bench.run("form", "preview", "--columns", "30", "-", input: Self.form)
        #expect(narrow.status == 0)
        #expect(narrow.out.split(separator: "\n").allSatisfy { $0.count <= 30 })
        let colored = try bench.run("form", "preview", "--color", "always", path)
        #expect(colored.status == 0 && colored.out.contains("\u{1B}["))
    }

    @Test("a file with mistakes has no preview but its errors; a width out of range is refused")
    func mistakes() throws {
        let bench = try Bench(starting: false)
        let outcome = try bench.run("form", "preview", "-", input: "form: x\nfields: [{id: a}]\n")
        #expect(outcome.status == 65 && outcome.out == "")
        #expect(outcome.err.hasPrefix("standard input:2:"), "\(outcome.err)")
        #expect(try bench.run("form", "preview", "--columns", "0", "-").status == 64)
        #expect(try bench.run("form", "preview", "/nonexistent").status == 66)
    }
}
