// `torture`: runs rows and prints their table. See Torture/README.md.
//
//     torture --bin FOLDER [--rows 1,8] [--seconds N] [--seed N] [--scratch FOLDER] [--list]
//
//     torture --costly-requests: the requests of row 26, one JSON text per line
//
// Exit status: 0 without errors, 1 with errors, 64 for a wrong command line.

import CostlyRequests
import Glibc
import TortureKit

signal(SIGPIPE, SIG_IGN)
if CommandLine.arguments.dropFirst() == ["--costly-requests"] {
    guard CostlyRequest.missingMethods.isEmpty else {
        Console.error("torture: no costly request for \(CostlyRequest.missingMethods)")
        exit(1)
    }
    for costly in CostlyRequest.all { print(costly.jsonText) }
    exit(0)
}
do throws(UsageError) {
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    exit(await Table(options).print() ? 0 : 1)
} catch {
    Console.error("torture: \(error.description)")
    exit(64)
}
