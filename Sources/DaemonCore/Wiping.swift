internal import CWipe

// Memory without secrets. Always holds, from the first form with a secure control on: what a secret
// passed through is wiped when it has been dealt with. What is freed is wiped by `free` itself
// (CWipe); what is used again and again, here.

enum Wiping {
    /// From now on what is freed is wiped.
    static func begin() { cwipe_begin() }

    /// Wipes the loop's read buffer behind a read: the bytes are lent to us alone.
    static func wipe(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        cwipe_bytes(UnsafeMutableRawPointer(mutating: base), UInt(bytes.count))
    }

    /// Wipes what calls have left on the stack: short strings live within values.
    static func wipeStack() { cwipe_stack() }
}
