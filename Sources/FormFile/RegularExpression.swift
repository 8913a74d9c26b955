internal import CPCRE2
public import SyncCore

// Patterns of text controls, compiled and run by PCRE2.
//
// The author of a form writes a pattern, and the daemon runs it on input from any client, on the
// only thread. So a pattern must not block the thread: every match has a match limit, a depth limit
// and a heap limit, which a pattern cannot raise: `(*LIMIT_MATCH=…)` and similar items at the start
// of a pattern can lower a limit, but not raise it (pcre2pattern(3), "Setting match resource
// limits"), and `(*NO_JIT)`, `(*NO_START_OPT)` and the others there affect no limit. No callout
// function is ever set, so `(?C)` does nothing. The core does not depend on PCRE2: it receives
// `compiler` as a parameter (FORM.md, Types).

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
/// Sendable without a check because both of its pointers are written only in the initializer and
/// freed only with the last reference; pcre2api(3), "Multithreading": the compiled code is
/// read-only and may be used by several threads at once, and so may a match context that nobody
/// changes. What a match writes is allocated for each call.
public final class RegularExpression: @unchecked Sendable {
    /// The longest pattern, in bytes: two screens full. Compiling takes time and memory by length.
    public static let patternBytesMax = 4096
    /// Steps of backtracking in one match: some milliseconds, since a step takes about 20 ns.
    public static let matchStepsMax: UInt32 = 200_000
    /// How deep backtracking nests.
    public static let matchDepthMax: UInt32 = 20_000
    /// Memory for backtracking in one match, in KiB.
    public static let matchHeapKibibytesMax: UInt32 = 8192

    private let code: OpaquePointer
    private let context: OpaquePointer

    /// Compiles `pattern` with UTF and without `\C`, which would split a character.
    ///
    /// Fails with PCRE2's message and the place in the pattern.
    public init(_ pattern: String) throws(PatternError) {
        guard pattern.utf8.count <= Self.patternBytesMax else {
            throw PatternError(
                message: "the pattern is longer than \(Self.patternBytesMax) bytes",
                offsetBytes: Self.patternBytesMax)
        }
        let options = PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_NEVER_BACKSLASH_C
        var problem: Int32 = 0
        var offset = 0
        var text = pattern
        let compiled = text.withUTF8 { bytes in
            pcre2_compile_8(bytes.baseAddress, bytes.count, options, &problem, &offset, nil)
        }
        guard let compiled else {
            throw PatternError(message: Self.message(for: problem), offsetBytes: offset)
        }
        guard let context = pcre2_match_context_create_8(nil) else {
            pcre2_code_free_8(compiled)
            throw PatternError(message: "out of memory", offsetBytes: 0)
        }
        pcre2_set_match_limit_8(context, Self.matchStepsMax)
        pcre2_set_depth_limit_8(context, Self.matchDepthMax)
        pcre2_set_heap_limit_8(context, Self.matchHeapKibibytesMax)
        code = compiled
        self.context = context
    }

    deinit {
        pcre2_match_context_free_8(context)
        pcre2_code_free_8(code)
    }

    /// Whether the whole of `text` matches.
    public func outcome(on text: String) -> MatchOutcome {
        // One pair of offsets is enough: the groups are not used.
        guard let data = pcre2_match_data_create_8(1, nil) else { return .undecided }
        defer { pcre2_match_data_free_8(data) }
        var text = text
        let result = text.withUTF8 { bytes in
            // A Swift string is always valid UTF-8, so PCRE2 does not have to check it.
            pcre2_match_8(
                code, bytes.baseAddress, bytes.count, 0, PCRE2_NO_UTF_CHECK, data, context)
        }
        switch result {
        // Zero means that there were more groups than offsets. It is a match too.
        case 0...: return .matches
        case PCRE2_ERROR_NOMATCH: return .differs
        default: return .undecided
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
            return .success(PatternMatcher { expression.outcome(on: $0) == .matches })
        } catch {
            return .failure(error)
        }
    }
}
