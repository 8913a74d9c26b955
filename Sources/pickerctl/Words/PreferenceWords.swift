// What is wrong in the file of themes and keys.

internal import SyncCore

/// The sentences about `live.yaml`: what is wrong, and what is expected in its place.
enum PreferenceWords {
    typealias Mistake = (message: String, expected: String)

    static let noMapping: Mistake = ("not a mapping", "theme and keys")
    static let noKeys: Mistake = ("not a mapping", "an action and its keys: undo: z")
    static let noSetting: Mistake = ("no such setting", "theme or keys")
    static let noBackground: Mistake = ("no such background", "light or dark")

    static func noTheme(_ name: String?, among names: [String]) -> Mistake {
        (name.map(UsageWords.noTheme) ?? "not a name", Wording.oneOf(names))
    }

    static func noAction(among names: [String]) -> Mistake {
        ("no such action", Wording.oneOf(names))
    }

    // MARK: Keys

    static func notSent(_ key: String) -> Mistake {
        ("no terminal sends \"\(key)\"", "a key such as u, ctrl-r, f1 or space")
    }

    static func fixed(_ key: String, _ why: String) -> Mistake {
        ("\"\(key)\" \(why)", anotherKey)
    }

    static func isKey(_ key: String, of action: String) -> Mistake {
        ("\"\(key)\" is the key of \(action) already", anotherKey)
    }

    private static let anotherKey = "another key"

    /// Why a key cannot be given to an action.
    static let choosesAlways = "always chooses an option or types a number"
    static let interruptsAlways = "always interrupts"
    static let suspendsAlways = "always suspends"
    static let redrawsAlways = "always draws the screen again"
}
