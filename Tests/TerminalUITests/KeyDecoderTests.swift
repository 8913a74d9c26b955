import TestKit
import Testing

@testable import TerminalUI

/// Text events side by side as one, since a read's end decides how a cluster's scalars come.
private func joined(_ events: [InputEvent]) -> [InputEvent] {
    var result: [InputEvent] = []
    for event in events {
        if case .key(let key) = event, case .character(let next) = key.key, key.modifiers.isEmpty,
            case .key(let last)? = result.last, case .character(let before) = last.key,
            last.modifiers.isEmpty
        {
            let both = String(before) + String(next)
            if both.count == 1 {
                result[result.count - 1] = .key(KeyEvent(.character(Character(both))))
                continue
            }
        }
        result.append(event)
    }
    return result
}

func decoded(_ pieces: [[UInt8]]) -> [InputEvent] {
    var decoder = KeyDecoder()
    var events: [InputEvent] = []
    for piece in pieces { events += decoder.decode(piece) }
    return joined(events + decoder.timeout())
}

private func key(_ key: Key, _ modifiers: KeyModifiers = []) -> InputEvent {
    .key(KeyEvent(key, modifiers))
}

private func mouse(_ kind: MouseEvent.Kind, _ x: Int, _ y: Int, _ modifiers: KeyModifiers = [])
    -> InputEvent
{
    .mouse(MouseEvent(kind, at: Point(x: x, y: y), modifiers))
}

@Suite struct KeyDecoderTests {
    /// What terminals send, and what it is.
    static let sent: [(String, [InputEvent])] = [
        // Text and controls.
        ("a", [key(.character("a"))]), ("é", [key(.character("é"))]),
        ("日", [key(.character("日"))]), ("👩‍👧", [key(.character("👩‍👧"))]),
        ("e\u{301}x", [key(.character("e\u{301}")), key(.character("x"))]),
        ("\r", [key(.enter)]), ("\n", [key(.enter)]),
        ("\t", [key(.tab)]),
        ("\u{7F}", [key(.backspace)]),
        ("\u{8}", [key(.backspace, .control)]), ("\u{3}", [key(.character("c"), .control)]),
        ("\0", [key(.character(" "), .control)]), ("\u{1F}", [key(.character("_"), .control)]),
        ("\u{1B}", [key(.escape)]), ("\u{1B}\u{1B}", [key(.escape, .alt)]),
        ("\u{1B}a", [key(.character("a"), .alt)]), ("\u{1B}é", [key(.character("é"), .alt)]),
        ("\u{1B}[", [key(.character("["), .alt)]), ("\u{1B}O", [key(.character("O"), .alt)]),
        ("\u{1B}\r", [key(.enter, .alt)]), ("\u{1B}\u{7F}", [key(.backspace, .alt)]),
        // kitty: text, Caps Lock, the keypad, and whether it has the protocol at all.
        ("\u{1B}[97;65;65u", [.capsLock(true), key(.character("A"))]),
        (
            "\u{1B}[97;65;65u\u{1B}[98;66;66u\u{1B}[99u",
            [
                .capsLock(true), key(.character("A")), key(.character("B")), .capsLock(false),
                key(.character("c")),
            ]
        ),
        ("\u{1B}[113;1;233u", [key(.character("é"))]),
        ("\u{1B}[99;5;3u", [key(.character("c"), .control)]),
        ("\u{1B}[57419u\u{1B}[57424u", [key(.up), key(.end)]),
        ("\u{1B}[97;1;27u", [key(.character("a"))]),
        ("\u{1B}[?9u", [.reply(.keyboard(9))]),
        // xterm.
        ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", [key(.up), key(.down), key(.right), key(.left)]),
        ("\u{1B}OA\u{1B}OF\u{1B}OP", [key(.up), key(.end), key(.function(1))]),
        ("\u{1B}[1;5C", [key(.right, .control)]), ("\u{1B}[1;4A", [key(.up, [.shift, .alt])]),
        ("\u{1B}[3~\u{1B}[3;5~", [key(.delete), key(.delete, .control)]),
        ("\u{1B}[15~\u{1B}[24~", [key(.function(5)), key(.function(12))]),
        ("\u{1B}[1;2R", [key(.function(3), .shift)]), ("\u{1B}[Z", [key(.tab, .shift)]),
        ("\u{1B}[27;5;9~", [key(.tab, .control)]),
        // kitty.
        ("\u{1B}[97;5u", [key(.character("a"), .control)]), ("\u{1B}[27u", [key(.escape)]),
        ("\u{1B}[97;2u", [key(.character("A"))]), ("\u{1B}[57441u", []),
        // rxvt.
        ("\u{1B}[7~\u{1B}[8~", [key(.home), key(.end)]), ("\u{1B}[a", [key(.up, .shift)]),
        ("\u{1B}Od", [key(.left, .control)]), ("\u{1B}[5^", [key(.pageUp, .control)]),
        ("\u{1B}[6$x", [key(.pageDown, .shift), key(.character("x"))]),
        ("\u{1B}\u{1B}[A", [key(.up, .alt)]),
        // The Linux console and the VT220.
        ("\u{1B}[[A\u{1B}[[E", [key(.function(1)), key(.function(5))]),
        ("\u{1B}[1~\u{1B}[4~", [key(.home), key(.end)]), ("\u{1B}[28~", [key(.function(15))]),
        ("\u{1B}OM\u{1B}Op", [key(.enter), key(.character("0"))]),
        // The mouse.
        ("\u{1B}[<0;10;5M", [mouse(.press(.left), 9, 4)]),
        ("\u{1B}[<0;10;5m", [mouse(.release(.left), 9, 4)]),
        ("\u{1B}[<32;300;5M", [mouse(.drag(.left), 299, 4)]),
        ("\u{1B}[<35;1;1M", [mouse(.move, 0, 0)]), ("\u{1B}[<64;1;1M", [mouse(.wheelUp, 0, 0)]),
        ("\u{1B}[<81;1;1M", [mouse(.wheelDown, 0, 0, .control)]),
        ("\u{1B}[<2;0;1M", []), ("\u{1B}[M !!", [mouse(.press(.left), 0, 0)]),
        // Pastes.
        (
            "\u{1B}[200~a\r\nb\u{1B}[31m\u{7}\tc\u{1B}[201~z",
            [.paste("a\nb[31m\tc", isCut: false), key(.character("z"))]
        ),
        ("\u{1B}[200~\u{1B}[20\u{1B}[201~", [.paste("[20", isCut: false)]),
        // Answers.
        ("\u{1B}[I\u{1B}[O", [.attention(true), .attention(false)]),
        ("\u{1B}[?62;4c", [.reply(.attributes([62, 4]))]),
        ("\u{1B}[?2026;2$y", [.reply(.mode(2026, .reset))]),
        (
            "\u{1B}]11;rgb:1e1e/1e1e/2e2e\u{1B}\\",
            [.reply(.background(red: 30, green: 30, blue: 46))]
        ),
        (
            "\u{1B}]10;rgb:f/8/0\u{7}x",
            [.reply(.foreground(red: 255, green: 136, blue: 0)), key(.character("x"))]
        ),
        ("\u{1B}[24;80R", [.reply(.cursor(Point(x: 79, y: 23)))]),
        ("\u{1B}P>|xterm(390)\u{1B}\\q", [key(.character("q"))]),
        ("\u{1B}[>41;390;0c", []),
        // Garbage, and what follows it.
        ("\u{1B}[12\u{1B}[A", [key(.up)]), ("\u{1B}[1;\u{3}", [key(.character("c"), .control)]),
        ("\u{1B}]11;rgb:zz/1/1\u{7}a", [key(.character("a"))]),
        ("\u{1B}[999999999999999999999A", [key(.up)]),
        ("\u{1B}Oé", [key(.character("O"), .alt), key(.character("é"))]),
        ("\u{1B}]0;x\u{18}b", [key(.character("b"))]),
    ]

    @Test("what terminals send is understood, wherever a read ends", arguments: sent.indices)
    func splits(index: Int) {
        let (text, events) = Self.sent[index]
        let bytes = Array(text.utf8)
        #expect(decoded([bytes]) == events)
        #expect(decoded(bytes.map { [$0] }) == events, "byte by byte")
        for split in 0...bytes.count {
            #expect(
                decoded([Array(bytes[..<split]), Array(bytes[split...])]) == events,
                "split at \(split)")
        }
    }

    @Test("an escape waits for what follows, and is the key when nothing does")
    func escape() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0x1B]).isEmpty)
        #expect(decoder.isWaiting)
        #expect(decoder.timeout() == [key(.escape)])
        #expect(!decoder.isWaiting)
        #expect(decoder.decode([0x1B]).isEmpty)
        #expect(decoder.decode(Array("[A".utf8)) == [key(.up)])
    }

    @Test("bytes that are not UTF-8 are dropped and what follows is read")
    func invalidText() {
        for bad: [UInt8] in [
            [0xFF], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xC2, 0x9B],
        ] {
            #expect(decoded([bad + [0x61]]) == [key(.character("a"))], "\(bad)")
        }
    }

    @Test("a paste is bounded, and says that it was cut")
    func longPaste() {
        let text = String(repeating: "x", count: KeyDecoder.pasteBytesMax + 10)
        let events = decoded([Array("\u{1B}[200~\(text)\u{1B}[201~".utf8)])
        #expect(events == [.paste(String(text.dropLast(10)), isCut: true)])
    }

    @Test("an answer of any length is dropped without harm")
    func longSequence() {
        let digits = String(repeating: "1;", count: 5000)
        #expect(decoded([Array("\u{1B}[\(digits)Aa".utf8)]) == [key(.character("a"))])
        #expect(decoded([Array("\u{1B}]11;\(digits)\u{7}a".utf8)]) == [key(.character("a"))])
    }

    @Test("random bytes never trap, and mean the same however they are cut")
    func fuzz() {
        var random = SplitMix64(seed: SplitMix64.seed(from: "TERMINALUI_SEED"))
        let common = Array("\u{1B}\u{1B}[[O]P<;?0123456789~ABMmRucy$\u{7}\\:/rgb200~201~\r é日".utf8)
        for _ in 0..<3000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let isCommon = Int.random(in: 0..<5, using: &random) > 0
                bytes.append(
                    isCommon
                        ? common.randomElement(using: &random) ?? 0
                        : UInt8.random(in: 0...255, using: &random))
            }
            let whole = decoded([bytes])
            let single = decoded(bytes.map { [$0] })
            #expect(whole == single, "\(bytes)")
        }
    }
}
