import PickerSync
import SyncCore
import TestKit
import Testing

private func roundTrips<Value: SharedValue>(_ value: Value) -> Bool {
    Value(fieldValue: value.fieldValue) == value
}

@Suite("Values there and back")
struct ValueTests {
    @Test("every type of value comes back as it went")
    func roundTrip() {
        #expect(roundTrips(true))
        #expect(roundTrips("naïve 👩‍👩‍👧"))
        #expect(roundTrips(Flavor.vanilla))
        #expect(roundTrips(Reaction.heart))
        #expect(roundTrips(Size.large))
        #expect(roundTrips(Reaction?.none))
        #expect(roundTrips(Reaction?.some(.heart)))
        #expect(roundTrips(Set([Flavor.vanilla, .chocolate])))
        #expect(roundTrips(Int.min))
        #expect(roundTrips(DecimalNumber("0.10")!))
        #expect(roundTrips(CivilDate("2026-11-21")))
        #expect(roundTrips(CivilDateTime("2026-11-21T14:30")))
        #expect(roundTrips(Duration.seconds(300)))
        #expect(roundTrips(IncomeOrigin(name: .capitalGains, tax: .variable)))
        #expect(roundTrips(Presses(7)))
    }

    @Test("a whole number of every width is a number and a tag, a float a number")
    func widths() {
        func both<Value: FixedWidthInteger & NumberValue & PickerTag>(_: Value.Type) {
            for value in [Value.min, 0, 1, Value(clamping: Int64.max)] {
                #expect(roundTrips(value))
            }
            #expect(Value(decimal: DecimalNumber("0.5")!) == nil && Value(fieldValue: "1") == nil)
        }
        both(Int8.self)
        both(Int16.self)
        both(Int32.self)
        both(Int64.self)
        both(Int.self)
        both(UInt8.self)
        both(UInt16.self)
        both(UInt32.self)
        both(UInt64.self)
        both(UInt.self)
        #expect(UInt8(fieldValue: 256) == nil && UInt(fieldValue: -1) == nil)
        #expect(UInt64.max.fieldValue == .null)
        #expect((0.1 as Float).fieldValue.encodedText == "0.1")
        #expect(roundTrips(0.1 as Float) && Float.infinity.fieldValue == .null)
    }

    @Test("a tag is the raw value, or the case's name where there is none")
    func tags() {
        #expect(Flavor.vanilla.fieldValue == "vanilla")
        #expect(Size.large.fieldValue == 10)
        #expect(Reaction.questionMark.fieldValue == "questionMark")
        #expect(IncomeSource.capitalGains.fieldValue == "Capital Gains")
        #expect(Flavor(fieldValue: "mint") == nil)
        #expect(Reaction(fieldValue: "mint") == nil)
        #expect(Size(fieldValue: 2) == nil)
        #expect(Set<Flavor>(fieldValue: ["vanilla", "mint"]) == nil)
    }

    @Test("equal sets are equal bytes, whatever order their elements went in")
    func sets() {
        let forward = Set(Flavor.allCases)
        let backward = Set(Flavor.allCases.reversed())
        #expect(forward.fieldValue.encodedText == backward.fieldValue.encodedText)
        #expect(forward.fieldValue == ["chocolate", "strawberry", "vanilla"])
    }

    @Test("a double is the decimal that a person reads in it")
    func doubles() {
        #expect((0.1).fieldValue.encodedText == "0.1")
        #expect((0.1 + 0.2).fieldValue.encodedText == "0.3")
        #expect((1.0 / 3).fieldValue.encodedText == "0.333333333333333")
        #expect((-2.0 / 3).fieldValue.encodedText == "-0.666666666666667")
        #expect((1e-7).fieldValue.encodedText == "0.0000001")
        #expect((50.0).fieldValue == 50)
        #expect((0.99999999999999999 as Double).fieldValue == 1)
        #expect(Double.nan.fieldValue == .null)
        #expect(Double.infinity.fieldValue == .null)
        #expect((1e300).fieldValue == .null)
    }

    @Test("a double of at most 15 digits comes back the same", arguments: 0..<200)
    func doublesRoundTrip(case number: Int) {
        var random = SplitMix64(seed: UInt64(number))
        let digits = Int64.random(in: -999_999_999_999_999...999_999_999_999_999, using: &random)
        let value = Double(digits) / 1_000_000
        #expect(roundTrips(value), "\(value)")
    }

    @Test("a secret is written and never read")
    func secrets() {
        #expect(("hunter2" as Secret).fieldValue == "hunter2")
        #expect(Secret(fieldValue: "hunter2") == nil)
        let shown = FieldState(value: .null, revision: 1, isSet: true, isSecretSet: true)
        #expect(Secret(field: shown)?.isSet == true)
        #expect(Secret(field: shown)?.fieldValue == .null)
    }
}
