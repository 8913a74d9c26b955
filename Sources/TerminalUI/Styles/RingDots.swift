// The dots of the ring that circular gauges draw, on a grid of 9 × 5 Braille cells (18 × 20 dots).
//
// The ring is three quarters of a circle around (8.5, 9), its radius from 7 to 9 dots; the opening
// is below. Places are percents of its length, clockwise from the lower left end.

/// Where the ring of a circular gauge has dots.
enum RingDots {
    static let columns = 9
    static let lines = 5

    /// A dot: its place along the ring in percent, ascending, its column and line, and whether it
    /// is on the middle of the ring (what is not filled is drawn as the middle alone).
    static let dots: [(percent: Int, x: Int, y: Int, isMiddle: Bool)] = [
        (1, 2, 15, false), (1, 3, 14, false), (3, 2, 14, true), (5, 2, 13, true),
        (6, 1, 13, false), (7, 2, 12, false), (9, 1, 12, true), (11, 1, 11, true),
        (12, 0, 11, false), (14, 0, 10, false), (14, 1, 10, false), (17, 0, 9, false),
        (17, 1, 9, false), (19, 0, 8, false), (19, 1, 8, false), (22, 0, 7, false),
        (22, 1, 7, true), (25, 1, 6, true), (26, 2, 6, false), (27, 1, 5, false),
        (28, 2, 5, true), (31, 2, 4, true), (32, 2, 3, false), (32, 3, 4, false),
        (34, 3, 3, true), (36, 3, 2, false), (36, 4, 3, false), (38, 4, 2, true),
        (40, 5, 2, true), (41, 5, 1, false), (43, 6, 2, false), (44, 6, 1, true),
        (46, 7, 1, true), (46, 7, 2, false), (48, 8, 2, false), (49, 8, 1, true),
        (51, 9, 1, true), (52, 9, 2, false), (54, 10, 1, true), (54, 10, 2, false),
        (56, 11, 1, true), (57, 11, 2, false), (59, 12, 1, false), (60, 12, 2, true),
        (62, 13, 2, true), (64, 13, 3, false), (64, 14, 2, false), (66, 14, 3, true),
        (68, 14, 4, false), (68, 15, 3, false), (69, 15, 4, true), (72, 15, 5, true),
        (73, 16, 5, false), (74, 15, 6, false), (75, 16, 6, true), (78, 16, 7, true),
        (78, 17, 7, false), (81, 16, 8, false), (81, 17, 8, false), (83, 16, 9, false),
        (83, 17, 9, false), (86, 16, 10, false), (86, 17, 10, false), (88, 17, 11, false),
        (89, 16, 11, true), (91, 16, 12, true), (93, 15, 12, false), (94, 16, 13, false),
        (95, 15, 13, true), (97, 15, 14, true), (99, 14, 14, false), (99, 15, 15, false),
    ]

    /// The bit of a dot within its cell (Unicode Standard, chapter 21.1, Braille).
    static func bit(x: Int, y: Int) -> UInt32 {
        switch (x & 1, y & 3) {
        case (0, 0): 0x01
        case (0, 1): 0x02
        case (0, 2): 0x04
        case (1, 0): 0x08
        case (1, 1): 0x10
        case (1, 2): 0x20
        case (0, _): 0x40
        default: 0x80
        }
    }
}
