internal import CPCRE2
public import SyncCore

// Patterns of text controls, compiled and run by PCRE2.
//
// The author of a form writes a pattern, and the daemon runs it on input from any client, on the
// only thread. So a pattern must not block the thread. PCRE2's match limit counts backtracks and
// not the text that it scans between two of them (`(?=.*+)` scans all of it for one), so each
// pattern is compiled with a callout before each of its items (pcre2callout(3), "Automatic
// callouts"), and the callout counts steps: one for the item, and one for each byte that the item
// scanned. A match that takes more steps than the length of its text allows is ended. The limits
// of PCRE2 are a second bound, which a pattern cannot raise: `(*LIMIT_MATCH=…)` and similar items
// at the start of a pattern can lower a limit, but not raise it (pcre2pattern(3), "Setting match
// resource limits"). A pattern's own `(?C)` is counted and does nothing else. The core does not
// depend on PCRE2: it receives `compiler` as a parameter (FORM.md, Types).

/// The result of matching a regular expression against a text.
public enum MatchOutcome: Hashable, Sendable {
    /// The whole text matches.
    case matches
    /// The text does not match.
    case differs
    /// A limit ended the search. The value is refused, because it is unknown whether it matches.
    case undecided
}

/// A compiled PCRE2 expression that a *whole* text must match.
///
/// Sendable without a check because its pointer is written only in the initializer and freed only
/// with the last reference; pcre2api(3), "Multithreading": the compiled code is read-only and may
/// be used by several threads at once. What a match writes is allocated for each call.
public final class RegularExpression: @unchecked Sendable {
    /// The longest pattern, in bytes: two screens full. Compiling takes time and memory by length.
    public static let patternBytesMax = 4096
    /// Steps of one match: of any text, and for each byte of it.
    public static let stepsMax = 20_000
    public static let stepsAByteMax = 32
    /// Backtracks of one match.
    public static let backtracksMax: UInt32 = 200_000
    /// How deep backtracking nests.
    public static let matchDepthMax: UInt32 = 20_000
    /// Memory for backtracking in one match, in KiB.
    public static let matchHeapKibibytesMax: UInt32 = 8192

    private let code: OpaquePointer
    private let items: PatternItems

    /// Compiles `pattern` with UTF and without `\C`, which would split a character.
    ///
    /// Fails with PCRE2's message and the place in the pattern.
    public init(_ pattern: String) throws(PatternError) {
        guard pattern.utf8.count <= Self.patternBytesMax else {
            throw PatternError(
                message: "the pattern is longer than \(Self.patternBytesMax) bytes",
                offsetBytes: Self.patternBytesMax)
        }
        let options =
            PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_NEVER_BACKSLASH_C
            | PCRE2_AUTO_CALLOUT
        var problem: Int32 = 0
        var offset = 0
        var text = pattern
        let compiled = text.withUTF8 { bytes in
            pcre2_compile_8(bytes.baseAddress, bytes.count, options, &problem, &offset, nil)
        }
        guard let compiled else {
            throw PatternError(message: Self.message(for: problem), offsetBytes: offset)
        }
        code = compiled
        items = PatternItems(Array(pattern.utf8))
    }

    deinit { pcre2_code_free_8(code) }

    /// Bytes of memory that the compiled pattern takes: pcre2_pattern_info(3), `PCRE2_INFO_SIZE`.
    public var compiledBytes: Int {
        var size = 0
        return pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_SIZE), &size) == 0 ? size : 0
    }

    /// Whether the whole of `text` matches.
    public func outcome(on text: String) -> MatchOutcome { match(text).outcome }

    /// The same, and the steps that it took.
    func match(_ text: String) -> (outcome: MatchOutcome, steps: Int) {
        // One pair of offsets is enough: the groups are not used.
        guard let data = pcre2_match_data_create_8(1, nil) else { return (.undecided, 0) }
        defer { pcre2_match_data_free_8(data) }
        guard let context = pcre2_match_context_create_8(nil) else { return (.undecided, 0) }
        defer { pcre2_match_context_free_8(context) }
        pcre2_set_match_limit_8(context, Self.backtracksMax)
        pcre2_set_depth_limit_8(context, Self.matchDepthMax)
        pcre2_set_heap_limit_8(context, Self.matchHeapKibibytesMax)
        var text = text
        let most = Self.stepsMax + Self.stepsAByteMax * text.utf8.count
        var count = StepCount(items: items, left: most)
        let result = withUnsafeMutablePointer(to: &count) { count in
            pcre2_set_callout_8(context, countStep, count)
            return text.withUTF8 { bytes in
                // A Swift string is always valid UTF-8, so PCRE2 does not have to check it.
                pcre2_match_8(
                    code, bytes.baseAddress, bytes.count, 0, PCRE2_NO_UTF_CHECK, data, context)
            }
        }
        let steps = most - count.left
        switch result {
        // Zero means that there were more groups than offsets. It is a match too.
        case 0...: return (.matches, steps)
        case PCRE2_ERROR_NOMATCH: return (.differs, steps)
        default: return (.undecided, steps)
        }
    }

    private static func message(for code: Int32) -> String {
        // PCRE2's longest message is well below this (pcre2api(3): 256 bytes are enough).
        let text = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { buffer in
            buffer.initialize(repeating: 0)
            let count = pcre2_get_error_message_8(code, buffer.baseAddress, buffer.count)
            return String(decoding: buffer.prefix(max(0, Int(count))), as: UTF8.self)
        }
        return text.isEmpty ? "error \(code)" : text
    }
}

extension RegularExpression {
    /// The function with which the core compiles the patterns of a form. A match that a limit ended
    /// counts as no match.
    public static let compiler: PatternCompiler = { pattern in
        do throws(PatternError) {
            let expression = try RegularExpression(pattern)
            let matcher = PatternMatcher(compiledBytes: expression.compiledBytes) { text in
                let (outcome, steps) = expression.match(text)
                return PatternMatcher.Outcome(isMatch: outcome == .matches, steps: steps)
            }
            return .success(matcher)
        } catch {
            return .failure(error)
        }
    }
}
