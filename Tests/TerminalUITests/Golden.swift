import Foundation
import SyncCore
import Testing

@testable import TerminalUI

/// Screens as text files, compared with what is drawn now. `RECORD_GOLDENS=1` writes them anew:
/// look at the difference before you keep it.
enum Golden {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Goldens")
    private static let isRecording =
        ProcessInfo.processInfo.environment["RECORD_GOLDENS"] == "1"

    static func check(
        _ name: String, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let file = folder.appending(path: name + ".txt")
        if isRecording {
            try text.write(to: file, atomically: true, encoding: .utf8)
            return
        }
        let kept = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        if kept == text { return }
        let difference = zip(
            kept.split(separator: "\n", omittingEmptySubsequences: false),
            text.split(separator: "\n", omittingEmptySubsequences: false)
        ).first { $0 != $1 }
        Issue.record(
            """
            \(name) is drawn otherwise than its golden says:
            was \(difference?.0 ?? "(shorter)")
            now \(difference?.1 ?? "(longer)")
            """, sourceLocation: sourceLocation)
    }

    /// The screen between bars; with styles, a letter below each cell that is not plain, and what
    /// the letters stand for.
    static func transcript(_ canvas: Canvas, styles: Bool) -> String {
        var text = ""
        var legend: [CellStyle] = []
        for y in 0..<canvas.buffer.lines {
            text += "|" + canvas.buffer.text(ofLine: y) + "|\n"
            guard styles else { continue }
            var letters = ""
            for x in 0..<canvas.buffer.columns {
                let style = canvas.buffer[x, y].style
                if style == .plain {
                    letters += " "
                } else {
                    let number = legend.firstIndex(of: style) ?? legend.count
                    if number == legend.count { legend.append(style) }
                    letters.unicodeScalars.append(Unicode.Scalar(UInt8(97 + number % 26)))
                }
            }
            while letters.last == " " { letters.removeLast() }
            if !letters.isEmpty { text += " " + letters + "\n" }
        }
        for (number, style) in legend.enumerated() {
            let letter = Character(Unicode.Scalar(UInt8(97 + number % 26)))
            text += "    \(letter) \(describe(style))\n"
        }
        if let cursor = canvas.cursor, styles { text += "    cursor \(cursor.x),\(cursor.y)\n" }
        return text
    }

    private static func describe(_ style: CellStyle) -> String {
        var words: [String] = []
        let names: [(CellAttributes, String)] = [
            (.bold, "bold"), (.dim, "dim"), (.italic, "italic"), (.underline, "underline"),
            (.reverse, "reverse"), (.strikethrough, "strikethrough"),
        ]
        for (attribute, name) in names where style.attributes.contains(attribute) {
            words.append(name)
        }
        if style.foreground != .standard { words.append(describe(style.foreground)) }
        if style.background != .standard { words.append("on " + describe(style.background)) }
        return words.joined(separator: " ")
    }

    private static func describe(_ color: TerminalColor) -> String {
        switch color {
        case .standard: "standard"
        case .ansi(let index): "ansi\(index)"
        case .palette(let index): "palette\(index)"
        case .rgb(let red, let green, let blue):
            "#"
                + [red, green, blue].map { byte in
                    let digits = String(byte, radix: 16)
                    return digits.count == 1 ? "0" + digits : digits
                }.joined()
        }
    }
}

/// A control in each of its states.
struct Sample {
    /// Another's value, for drafts, waiting changes and conflicts.
    var other: (value: JSON, text: String)
    var own: String
    var make: (ControlState) -> any ControlView

    static let bob = Peer(name: "bob", number: 0)
    static let carol = Peer(name: "carol", number: 1)

    var states: [(name: String, state: ControlState)] {
        let theirs = PeerValue(
            value: other.value, text: other.text, by: Self.bob, when: "14:02:11")
        let mine = PeerValue(value: .null, text: own, by: nil, when: "14:02:12")
        return [
            ("at rest", ControlState()),
            ("focused", ControlState(isFocused: true)),
            ("disabled", ControlState(availability: .disabled)),
            ("read only", ControlState(availability: .readOnly)),
            ("locked", ControlState(availability: .locked)),
            ("invalid", ControlState(validity: .invalid("takes something else"))),
            ("missing", ControlState(isFocused: true, validity: .missing)),
            ("mixed", ControlState(isMixed: true)),
            ("conflict", ControlState(isFocused: true, conflict: [theirs, mine])),
            ("ghost", ControlState(ghost: theirs)),
            ("held", ControlState(isFocused: true, held: theirs)),
            ("flash", ControlState(flash: Self.bob)),
            ("peers", ControlState(peers: [Self.bob, Self.carol])),
        ]
    }

    /// Every state at 80 columns, some at 40, and two depths and ASCII with the focus.
    func transcript(_ name: String) -> String {
        let harbor = StyleEnvironment(theme: .harbor)
        var text = "# \(name)\n"
        func add(
            _ title: String, _ state: ControlState, _ environment: StyleEnvironment, _ columns: Int,
            styles: Bool
        ) {
            let canvas = Canvas.drawing(
                AnyBlock(make(state).block(in: environment)), columns: columns)
            text += "\n## \(title)\n" + Golden.transcript(canvas, styles: styles)
        }
        for (title, state) in states {
            let isShown = title == "at rest" || title == "focused" || title == "disabled"
            add(title + ", 80 columns", state, harbor, 80, styles: isShown)
        }
        for (title, state) in states
        where ["focused", "conflict", "ghost", "peers"].contains(title) {
            add(title + ", 40 columns", state, harbor, 40, styles: false)
        }
        let focused = ControlState(isFocused: true)
        add(
            "focused, 16 colours", focused,
            StyleEnvironment(theme: .terminal, depth: .sixteen), 72, styles: true)
        add(
            "focused, no colours", focused, StyleEnvironment(theme: .harbor, depth: .none), 72,
            styles: true)
        add(
            "focused, ASCII", focused,
            StyleEnvironment(theme: .paper, depth: .palette256, charset: .ascii), 72, styles: false)
        add(
            "at rest, ASCII", ControlState(),
            StyleEnvironment(theme: .paper, depth: .palette256, charset: .ascii), 40, styles: false)
        return text
    }
}
