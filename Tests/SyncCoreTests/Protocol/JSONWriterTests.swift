import SyncCore
import Testing

@Suite("The JSON writer")
struct JSONWriterTests {
    @Test("puts commas where they belong")
    func commas() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("a")
        writer.integer(-1)
        writer.key(named: "b\"")
        writer.beginArray()
        writer.null()
        writer.bool(true)
        writer.string("s")
        writer.raw(Array("{}".utf8))
        writer.beginObject()
        writer.endObject()
        writer.beginArray()
        writer.endArray()
        writer.endArray()
        writer.key("c")
        writer.number(DecimalNumber("0.50")!)
        writer.key("d")
        writer.string(static: "e")
        writer.endObject()
        let text = #"{"a":-1,"b\"":[null,true,"s",{},{},[]],"c":0.50,"d":"e"}"#
        #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
        #expect(writer.take().count == text.utf8.count && writer.bytes.isEmpty)
    }

    @Test(
        "writes the ends of the integers",
        arguments: [
            (Int64.min, "-9223372036854775808"), (.max, "9223372036854775807"), (0, "0"),
            (-9, "-9"), (10, "10"),
            (1_234_567_890, "1234567890"),
        ])
    func integers(_ value: Int64, _ text: String) {
        var writer = JSONWriter()
        writer.integer(value)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
    }

    @Test(
        "escapes what would act on a terminal, and nothing else",
        arguments: [
            ("a\"\\/b", #""a\"\\/b""#), ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
            ("\0\u{1B}[31m", #""\u0000\u001b[31m""#),
            ("\u{7F}\u{80}\u{9B}\u{9F}", #""\u007f\u0080\u009b\u009f""#),
            ("\u{A0}é漢😀", "\"\u{A0}é漢😀\""),
            ("\u{2028}\u{2029}", #""\u2028\u2029""#),
            ("\u{202A}x\u{202E}\u{2066}\u{2069}", #""\u202ax\u202e\u2066\u2069""#),
            ("\u{200E}\u{200F}\u{61C}", #""\u200e\u200f\u061c""#),
            (
                "\u{2027}\u{202F}\u{2065}\u{206A}\u{200D}",
                "\"\u{2027}\u{202F}\u{2065}\u{206A}\u{200D}\""
            ),
            ("\u{600}\u{61B}\u{61D}", "\"\u{600}\u{61B}\u{61D}\""),
        ])
    func escapes(_ text: String, _ written: String) throws {
        #expect(JSON.string(text).encodedText == written)
        #expect(try JSON(parsing: written) == .string(text))
    }

    @Test("writes no harmful character, and what it writes reads the same")
    func everyScalar() throws {
        for start in stride(from: UInt32(0), to: 0x3000, by: 1) {
            guard let scalar = Unicode.Scalar(start) else { continue }
            let written = JSON.string("a\(scalar)b").encodedText
            #expect(!written.unicodeScalars.contains(where: SafeText.isHarmful), "U+\(start)")
            #expect(try JSON(parsing: written) == .string("a\(scalar)b"), "U+\(start)")
        }
    }

    @Test("escapes a character at any place of a text of any length")
    func everyPlace() throws {
        let specials: [Unicode.Scalar] = ["\"", "\\", "\u{1F}", "\u{7F}", "é", "\u{2028}"]
        for length in 0..<26 {
            let plain = (0..<length).map { Unicode.Scalar(UInt8(ascii: "a") + UInt8($0)) }
            var text = String(String.UnicodeScalarView(plain))
            #expect(JSON.string(text).encodedText == "\"\(text)\"")
            for place in 0..<length {
                for special in specials {
                    var scalars = plain
                    scalars[place] = special
                    text = String(String.UnicodeScalarView(scalars))
                    let written = JSON.string(text).encodedText
                    #expect(!written.unicodeScalars.contains(where: SafeText.isHarmful))
                    #expect(try JSON(parsing: written) == .string(text), "\(written)")
                }
            }
        }
    }

    @Test("prints for people with two spaces a level")
    func pretty() {
        let json: JSON = ["a": [1, [], ["b": .null]], "c": [:], "d\n": "e"]
        #expect(
            json.prettyText == """
                {
                  "a": [
                    1,
                    [],
                    {
                      "b": null
                    }
                  ],
                  "c": {},
                  "d\\n": "e"
                }
                """)
    }

    @Test("appends behind what is there")
    func encodeInto() {
        var bytes: [UInt8] = [1, 2]
        JSON.array([1, "a"]).encode(into: &bytes)
        #expect(bytes == [1, 2] + Array(#"[1,"a"]"#.utf8))
    }

    @Test("objects are equal as sets of members, also large ones in another order")
    func objectEquality() {
        let members = (0..<100).map { ("k\($0)", JSON.integer($0)) }
        #expect(JSON.object(JSONObject(members)) == .object(JSONObject(members.reversed())))
        var other = JSONObject(members.reversed())
        other["k5"] = 0
        #expect(JSON.object(JSONObject(members)) != .object(other))
        #expect(JSON.string("é") != .string("e\u{301}"))
    }
}
