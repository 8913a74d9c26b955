// `torture`: runs rows and prints their table. See Torture/README.md.
//
//     torture --bin FOLDER [--rows 1,8] [--seconds N] [--seed N] [--scratch FOLDER] [--list]
//
// Exit status: 0 where nothing was wrong, 1 where something was, 64 usage.

import Glibc
import TortureKit

signal(SIGPIPE, SIG_IGN)
do throws(UsageError) {
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    exit(await Table(options).print() ? 0 : 1)
} catch {
    Console.error("torture: \(error.description)")
    exit(64)
}
