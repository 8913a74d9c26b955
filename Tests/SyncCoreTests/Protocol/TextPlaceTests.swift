import Testing

@testable import SyncCore

/// Numbers as text, of which several digits are written at a time.
@Suite struct TextPlaceTests {
    @Test("a hexadecimal number of each length is as the standard library writes it")
    func hexadecimal() {
        for digits in 1...16 {
            let greatest = UInt64.max >> UInt64(64 - 4 * digits)
            for number in [greatest, greatest / 16 + 1, greatest / 3 + 1, greatest - 9] {
                #expect(
                    written(16) { $0.put(hexadecimal: number) } == String(number, radix: 16))
            }
        }
        #expect(written(16) { $0.put(hexadecimal: 0) } == "0")
    }

    @Test("a decimal number of each length is as the standard library writes it")
    func decimal() {
        var greatest: UInt64 = 0
        for digits in 1...20 {
            greatest = digits == 20 ? .max : greatest * 10 + 9
            for number in [greatest, greatest / 10 + 1, greatest / 3 + 1, greatest - 9] {
                #expect(written(8) { $0.put(decimal: number) } == "\(number)")
            }
        }
        for number in 0..<UInt64(10_000) {
            #expect(written(8) { $0.put(decimal: number) } == "\(number)")
            #expect(written(8) { $0.put(decimal: number * 10_000) } == "\(number * 10_000)")
        }
    }

    /// The text, and that nothing behind it and the first `most` bytes is changed.
    private func written(_ most: Int, _ put: (inout TextPlace) -> Void) -> String {
        var length = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 24) { buffer, count in
            buffer.initialize(repeating: UInt8(ascii: "."))
            var text = TextPlace(buffer.baseAddress!)
            put(&text)
            length = text.place - buffer.baseAddress!
            count = buffer.count
        }
        #expect(bytes.dropFirst(max(most, length)).allSatisfy { $0 == UInt8(ascii: ".") })
        return String(decoding: bytes.prefix(length), as: UTF8.self)
    }
}
