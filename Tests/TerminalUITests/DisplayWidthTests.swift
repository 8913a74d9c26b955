import Testing

@testable import TerminalUI

@Suite struct DisplayWidthTests {
    @Test(
        "text takes the columns that a terminal with grapheme support gives it",
        arguments: [
            ("", 0), ("vanilla", 7), ("日本", 4), ("ｶﾅ", 2), ("Ａ", 2), ("é", 1), ("e\u{301}", 1),
            ("👍", 2), ("👍🏽", 2), ("👩‍👩‍👧‍👦", 2), ("❤️", 2), ("❤", 1), ("1️⃣", 2), ("🇩🇪", 2),
            ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("⚑", 1), ("กำ", 2), ("—", 1),
            ("a\u{200B}b", 2),
        ])
    func columns(text: String, expected: Int) {
        #expect(DisplayWidth.columns(of: text) == expected)
    }

    @Test("padding and cutting count columns, not characters")
    func fitting() {
        #expect(DisplayWidth.padded("日", to: 4) == "日  ")
        #expect(DisplayWidth.padded("日本語", to: 4) == "日本語")
        #expect(DisplayWidth.truncated("日本語", to: 5) == "日本…")
        #expect(DisplayWidth.truncated("日本語", to: 4) == "日…")
        #expect(DisplayWidth.truncated("abc", to: 3) == "abc")
        #expect(DisplayWidth.truncated("abc", to: 0) == "")
    }

    @Test("the tables are sorted and disjoint, as the binary search needs")
    func sorted() {
        for table in [
            DisplayWidthTable.zeroWidth, DisplayWidthTable.wide,
            DisplayWidthTable.emojiWithSelector,
        ] {
            for (left, right) in zip(table, table.dropFirst()) {
                #expect(left.first <= left.last)
                #expect(left.last < right.first)
            }
        }
    }
}
