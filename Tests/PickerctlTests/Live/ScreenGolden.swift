import Foundation
import Testing

@testable import TerminalUI

/// Whole screens that are kept with their colours: `RECORD_GOLDENS=1` writes them again.
enum ScreenGolden {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Goldens")
    /// What a terminal can show.
    enum Look: String, CaseIterable {
        case truecolor, light, sixteen, plain, ascii

        var environment: StyleEnvironment {
            switch self {
            case .truecolor: StyleEnvironment(theme: .harbor, depth: .trueColor)
            case .light: StyleEnvironment(theme: .paper, depth: .trueColor)
            case .sixteen: StyleEnvironment(theme: .terminal, depth: .sixteen)
            case .plain: StyleEnvironment(theme: .terminal, depth: .none)
            case .ascii: StyleEnvironment(theme: .terminal, depth: .none, charset: .ascii)
            }
        }
    }

    /// Compares a text with a golden, or records it; `shown` is what a failure prints.
    static func compare(_ text: String, with name: String, shown: String) throws {
        let file = folder.appending(path: name)
        if ProcessInfo.processInfo.environment["RECORD_GOLDENS"] == "1" {
            return try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let kept = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        if text != kept { Issue.record("\(name) is not what is drawn:\n\(shown)") }
    }

    /// The lines of a screen with the sequences of their styles.
    static func transcript(
        _ buffer: CellBuffer, _ environment: StyleEnvironment
    ) -> String {
        var bytes: [UInt8] = []
        for y in 0..<buffer.lines {
            let cells = buffer.reducedLine(
                y, to: environment.depth, charset: environment.charset)
            let used = cells.lastIndex { $0 != .blank() }.map { $0 + 1 } ?? 0
            var style = CellStyle.plain
            for cell in cells.prefix(used) where !cell.isContinuation {
                if cell.style != style { bytes += ANSI.style(cell.style) }
                style = cell.style
                bytes += Array(String(cell.cluster).utf8)
            }
            if style != .plain { bytes += ANSI.style(.plain) }
            bytes.append(0x0A)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
