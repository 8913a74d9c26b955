// The fuzzer: `fuzz TARGET [libFuzzer's options] CORPUS…`. Built by `make fuzz` alone.

internal import CFuzzer
internal import FuzzTargets
internal import Glibc

let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
guard CommandLine.arguments.count > 1, let target = FuzzTarget(rawValue: CommandLine.arguments[1])
else {
    print("usage: fuzz TARGET [options] CORPUS...; targets: \(names)")
    exit(64)
}

WorkMeter.current = WorkMeter(
    work: { cfuzzer_work() }, reached: { cfuzzer_reached($0) })

/// Which target runs; written once, before libFuzzer starts its one thread.
nonisolated(unsafe) private var chosen = target

var words: [UnsafeMutablePointer<CChar>?] = CommandLine.arguments.enumerated()
    .filter { $0.offset != 1 }.map { strdup($0.element) }
words.append(nil)
var count = CInt(words.count - 1)
let status = words.withUnsafeMutableBufferPointer { buffer in
    var arguments = buffer.baseAddress
    return LLVMFuzzerRunDriver(&count, &arguments) { data, size in
        chosen.run(Array(UnsafeBufferPointer(start: data, count: size)))
        return 0
    }
}
exit(status)
