// Errors of libuv. Invariants: the code is negative, as libuv gives it.

internal import CUV

/// An error of libuv: the call and the reason.
///
/// Codes are compared by value, so that a caller asks `error.code == .canceled` and never
/// compares messages.
public struct UVError: Error, Hashable, Sendable {
    /// A libuv error number (negative, `UV_E…`), as in libuv's errors page.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The number as libuv returns it, below zero.
        public let rawValue: CInt

        /// Takes a number as libuv returned it.
        public init(rawValue: CInt) { self.rawValue = rawValue }
    }

    /// Why.
    public let code: Code

    /// The libuv function that refused.
    public let operation: String

    /// A refusal of one function.
    public init(code: Code, operation: String) {
        precondition(code.rawValue < 0, "a libuv error is negative")
        self.code = code
        self.operation = operation
    }

    init(status: CInt, _ operation: String) {
        self.init(code: Code(rawValue: status), operation: operation)
    }
}

extension UVError.Code {
    /// The handle was closed, or the request cancelled, before the operation was done (ECANCELED).
    public static let canceled = Self(rawValue: UV_ECANCELED.rawValue)
}

extension UVError: CustomStringConvertible {
    /// The symbol of the code, such as `EPIPE` (`uv_err_name_r`).
    public var name: String {
        unsafe Self.text { unsafe uv_err_name_r(code.rawValue, $0, $1) }
    }

    /// One line: the function and the reason (`uv_strerror_r`).
    public var description: String {
        let reason = unsafe Self.text { unsafe uv_strerror_r(code.rawValue, $0, $1) }
        return "\(operation): \(reason)"
    }

    /// The `_r` functions write into our buffer; the plain ones leak for a code they do not know.
    private static func text(
        _ write: (UnsafeMutablePointer<CChar>, Int) -> UnsafeMutablePointer<CChar>?
    ) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            unsafe base.initialize(repeating: 0, count: buffer.count)
            _ = unsafe write(base, buffer.count)
            return unsafe String(cString: base)
        }
    }
}
