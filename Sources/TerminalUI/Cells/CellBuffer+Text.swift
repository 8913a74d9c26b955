// A frame as lines of text, for a pipe or a file.

extension CellBuffer {
    /// The lines, each with a newline behind it and without spaces at its end.
    ///
    /// - Parameters:
    ///   - depth: how many colours the control sequences may use; `nil` for no control sequences.
    ///   - charset: what the reader can show.
    public func text(depth: ColorDepth?, charset: Charset) -> String {
        var out: [UInt8] = []
        for y in 0..<lines {
            let line = reducedLine(y, to: depth ?? .none, charset: charset)
            let end = line.lastIndex { cell in
                cell.cluster != " " || depth != nil && cell.style != .plain
            }
            var pen = CellStyle.plain
            for cell in line.prefix((end ?? -1) + 1) where !cell.isContinuation {
                if depth != nil, cell.style != pen {
                    out += ANSI.style(from: pen, to: cell.style)
                    pen = cell.style
                }
                out += cell.cluster.utf8
            }
            if pen != .plain { out += ANSI.resetStyle }
            out.append(0x0A)
        }
        return String(decoding: out, as: UTF8.self)
    }
}
