import Testing

@testable import SyncCore

/// Numbers as text, written eight digits at a time.
@Suite struct TextPlaceTests {
    @Test("a hexadecimal number of each length is as the standard library writes it")
    func hexadecimal() {
        for digits in 1...16 {
            let greatest = UInt64.max >> UInt64(64 - 4 * digits)
            for number in [greatest, greatest / 16 + 1, greatest / 3 + 1, greatest - 9] {
                #expect(written(number) == String(number, radix: 16))
            }
        }
        #expect(written(0) == "0")
    }

    /// The text, and that nothing is written behind it.
    private func written(_ number: UInt64) -> String {
        let bytes = [UInt8](unsafeUninitializedCapacity: 24) { buffer, count in
            buffer.initialize(repeating: UInt8(ascii: "."))
            var text = TextPlace(buffer.baseAddress!)
            text.put(hexadecimal: number)
            count = buffer.count
            #expect(buffer[text.place - buffer.baseAddress!] == UInt8(ascii: "."))
        }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
    }
}
