import SyncCore
import Testing

@testable import TerminalUI

/// Lists of as many options as a form may have.
@Suite struct LongListTests {
    private func configuration(_ count: Int, cursor: Int?) -> PickerStyleConfiguration {
        var configuration = PickerStyleConfiguration(
            label: ControlLabel("p"), options: (0..<count).map { PickerOption(tag: .integer($0)) },
            selection: .tags([.integer(count - 1)]), environment: StyleEnvironment(theme: .harbor))
        configuration.cursor = cursor
        configuration.state.isFocused = true
        return configuration
    }

    private func text(_ block: some Block) -> [String] {
        let buffer = Canvas.drawing(AnyBlock(block), columns: 60).buffer
        return (0..<buffer.lines).map { buffer.text(ofLine: $0).trimmedAtEnd }
    }

    @Test(
        "of a long list the options near the highlighted one are drawn",
        arguments: [0, 1, 499, 500, 749, 750, 25_000, 49_250, 49_999, nil])
    func near(cursor: Int?) throws {
        let configuration = configuration(50_000, cursor: cursor)
        let lines = text(InlinePickerStyle().makeBody(configuration: configuration))
        #expect(lines.count <= PickerStyleConfiguration.drawnMax + 4)
        let pointer = configuration.environment.glyphs.pointer
        let highlighted = try #require(lines.first { $0.contains(pointer) })
        #expect(highlighted.hasSuffix(" \(cursor ?? 49_999)"), "\(highlighted)")
        let drawn = configuration.drawn
        #expect(drawn.count == PickerStyleConfiguration.drawnMax)
        #expect(
            lines.contains { $0.hasSuffix("… \(drawn.lowerBound) more above") }
                == (drawn.lowerBound > 0))
        #expect(
            lines.contains { $0.hasSuffix("… \(50_000 - drawn.upperBound) more below") }
                == (drawn.upperBound < 50_000))
        // The neighbours too, so that the next key has somewhere to go.
        let current = configuration.current
        #expect(drawn.contains(max(0, current - 200)) && drawn.contains(min(49_999, current + 200)))
    }

    @Test(
        "all of a usual list is drawn, with its groups; a group is drawn as far as its options are")
    func groups() {
        let all = configuration(1_000, cursor: 3)
        #expect(all.drawn == 0..<1_000)
        #expect(
            !text(InlinePickerStyle().makeBody(configuration: all)).contains { $0.contains("…") })
        var long = configuration(2_000, cursor: 1_999)
        long.groups = [
            OptionGroup(title: "first", range: 0..<500),
            OptionGroup(title: "over", range: 900..<1_100),
        ]
        let lines = text(RadioGroupPickerStyle().makeBody(configuration: long))
        #expect(!lines.contains { $0.contains("first") })
        #expect(lines.count { $0.contains("over") } == 1)
        #expect(lines.contains { $0.contains("… 1000 more above") })
    }

    @Test("an open list shows the title of each group, also of tens of thousands")
    func openList() {
        var configuration = configuration(50_000, cursor: nil)
        configuration.groups = (0..<25_000).map {
            OptionGroup(title: "g\($0)", range: $0 * 2..<$0 * 2 + 2)
        }
        let list = OpenList(options: configuration.options, at: 0, linesMax: 5)
        let lines = text(FilteredList(configuration: configuration, list: list))
        #expect(lines.contains { $0.contains("g0") } && lines.contains { $0.contains("g1") })
    }
}

extension String {
    fileprivate var trimmedAtEnd: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
