internal import CWipe

// Wipes secrets from memory. Invariant, from the first form with a secure control on: all memory
// that contained a secret is wiped after use. `free` wipes what it frees (CWipe); buffers that are
// reused are wiped here.

enum Wiping {
    /// Wipes all memory that is freed from now on.
    static func begin() { cwipe_begin() }

    /// Wipes the loop's read buffer after a read. Nobody else uses these bytes.
    static func wipe(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        cwipe_bytes(UnsafeMutableRawPointer(mutating: base), UInt(bytes.count))
    }

    /// Wipes the part of the stack that calls have used, because short strings are stored inline.
    static func wipeStack() { cwipe_stack() }
}
