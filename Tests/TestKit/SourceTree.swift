public import Foundation

/// The root of the source tree.
public let sourceTree = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

/// The folder of the built programs: `PICKERSYNC_BIN`, such as a release build, else the folder of
/// the test bundle.
public let builtProducts: URL = {
    if let folder = ProcessInfo.processInfo.environment["PICKERSYNC_BIN"] {
        return URL(filePath: folder)
    }
    let bundle = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(filePath: bundle ?? CommandLine.arguments[0]).deletingLastPathComponent()
}()

/// The path of a built program.
public func builtProgram(_ name: String) -> String { builtProducts.appending(path: name).path }

/// The path of a program of this machine that `PATH` finds; `nil` where it is not installed.
public func installedProgram(_ name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
        .split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
}
