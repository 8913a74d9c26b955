import Foundation
import SyncCore
import Testing

@testable import TerminalUI

/// Screens as text files, compared with what is drawn now. `RECORD_GOLDENS=1` writes them again:
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

    /// The depths of colour that a picture's letters tell of.
    static let depths: [ColorDepth] = [.trueColor, .palette256, .sixteen, .none]

    /// What letters stand for: a style at each depth.
    struct Legend {
        private var entries: [[CellStyle]] = []
        private static let letters = Array(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")

        /// The letter of a cell; a space for one that is plain at every depth.
        mutating func letter(_ styles: [CellStyle]) -> Character {
            if styles.allSatisfy({ $0 == .plain }) { return " " }
            let number = entries.firstIndex(of: styles) ?? entries.count
            if number == entries.count { entries.append(styles) }
            return Self.letters[number % Self.letters.count]
        }

        /// A line a letter.
        var text: String {
            var text = "## letters: true colour | 256 | 16 | no colours\n"
            for (number, styles) in entries.enumerated() {
                let words = styles.map { $0 == .plain ? "plain" : Golden.describe($0) }
                let letter = Self.letters[number % Self.letters.count]
                text += "\(letter) " + words.joined(separator: " | ") + "\n"
            }
            return text
        }
    }

    /// One picture of canvases that differ in their styles alone.
    static func picture(
        _ canvases: [Canvas], _ legend: inout Legend,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> String {
        var text = ""
        let buffers = canvases.map(\.buffer)
        for y in 0..<buffers[0].lines {
            let line = buffers[0].text(ofLine: y)
            for other in buffers.dropFirst() {
                #expect(
                    other.text(ofLine: y) == line, "the colours change what is written",
                    sourceLocation: sourceLocation)
            }
            text += "|" + line + "|\n"
            var letters = ""
            for x in 0..<buffers[0].columns {
                letters.append(legend.letter(buffers.map { $0[x, y].style }))
            }
            while letters.last == " " { letters.removeLast() }
            if !letters.isEmpty { text += " " + letters + "\n" }
        }
        if let cursor = canvases[0].cursor { text += "cursor \(cursor.x),\(cursor.y)\n" }
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
    var make: (ControlState) -> any ControlView

    static let bob = Peer(name: "bob", number: 0)
    static let carol = Peer(name: "carol", number: 1)

    var states: [(name: String, state: ControlState)] {
        let theirs = PeerValue(
            value: other.value, text: other.text, by: Self.bob, when: "14:02:11")
        return [
            ("at rest", ControlState()),
            ("focused", ControlState(isFocused: true)),
            ("disabled", ControlState(availability: .disabled)),
            ("read only", ControlState(availability: .readOnly)),
            ("locked", ControlState(availability: .locked)),
            ("invalid", ControlState(validity: .invalid("takes something else"))),
            ("missing", ControlState(isFocused: true, validity: .missing)),
            ("mixed", ControlState(isMixed: true)),
            ("ghost", ControlState(ghost: theirs)),
            ("held", ControlState(isFocused: true, held: theirs)),
            ("flash", ControlState(flash: Self.bob)),
            ("peers", ControlState(peers: [Self.bob, Self.carol])),
        ]
    }

    /// Every state at 80 and 40 columns: the picture with a letter below each cell that has a
    /// style, and the picture in ASCII; at the end what each letter is at every depth of colour.
    func transcript(_ name: String) -> String {
        var legend = Golden.Legend()
        var text = "# \(name)\n"
        for (title, state) in states {
            for columns in [80, 40] {
                func drawn(_ depth: ColorDepth, _ charset: Charset = .unicode) -> Canvas {
                    let environment = StyleEnvironment(
                        theme: .harbor, depth: depth, charset: charset)
                    return Canvas.drawing(
                        AnyBlock(make(state).block(in: environment)), columns: columns)
                }
                text += "\n## \(title), \(columns) columns\n"
                text += Golden.picture(Golden.depths.map { drawn($0) }, &legend)
                text += "in ASCII\n" + Golden.transcript(drawn(.none, .ascii), styles: false)
            }
        }
        return text + "\n" + legend.text
    }
}
