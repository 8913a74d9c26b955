// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Modules with memory that Swift does not manage mark each such place.
let strictMemory: [SwiftSetting] = strict + [.strictMemorySafety()]

/// ArgumentParser brings FoundationEssentials, whose own libraries a static link must name.
let parserLibraries = [
    "-l_FoundationCollections", "-l_FoundationCShims", "-lswiftSynchronization",
]

/// The functions that a start uses are placed together (scripts/order-symbols), and relocations are
/// stored in a compact format (glibc 2.36).
func ordered(_ program: String) -> [String] {
    let order = "\(Context.packageDirectory)/packaging/order/\(program)"
    let flags = [
        "--symbol-ordering-file=\(order)", "--no-warn-symbol-ordering", "-z",
        "pack-relative-relocs",
    ]
    return ["-use-ld=lld"] + flags.flatMap { ["-Xlinker", $0] }
}

let package = Package(
    name: "PickerSync",
    // What the library's imports of Synchronization need; the daemon and its socket are Linux's.
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "pickersyncd", targets: ["pickersyncd"]),
        .executable(name: "pickerctl", targets: ["pickerctl"]),
        .executable(name: "pickersync-link", targets: ["pickersync-link"]),
        .library(name: "PickerSync", targets: ["PickerSync"]),
        .library(name: "PickerSyncTesting", targets: ["PickerSyncTesting"]),
        .library(name: "PickerSyncFoundation", targets: ["PickerSyncFoundation"]),
        .library(name: "TerminalUI", targets: ["TerminalUI"]),
    ],
    // A package that depends on the library alone says `traits: []` and resolves nothing else.
    traits: [
        .trait(name: "Programs", description: "pickerctl and pickersync-link, which parse options"),
        .default(enabledTraits: ["Programs"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0")
    ],
    targets: [
        // C libraries: a module map and a shim each.
        .systemLibrary(
            name: "CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(
            name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
        .systemLibrary(
            name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(
            name: "CNats", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),

        .systemLibrary(name: "CSystem"),
        // C of our own: an allocator that can wipe what is freed.
        .target(name: "CWipe"),

        // The modules, lowest first. Imports point down only.
        .target(name: "SyncCore", swiftSettings: strict),
        .target(name: "EventLoop", dependencies: ["CUV"], swiftSettings: strictMemory),
        .target(
            name: "FormFile", dependencies: ["SyncCore", "CYAML", "CPCRE2"], swiftSettings: strict),
        .target(
            name: "Store", dependencies: ["SyncCore", "CSQLite", "CSodium"],
            swiftSettings: strictMemory),
        .target(name: "PickerClient", dependencies: ["SyncCore"], swiftSettings: strict),
        .target(
            name: "PickerSync", dependencies: ["SyncCore", "PickerClient", "TerminalUI"],
            swiftSettings: strict),
        .target(
            name: "PickerSyncFoundation", dependencies: ["PickerSync"], swiftSettings: strict),
        .target(
            name: "PickerSyncTesting",
            dependencies: ["PickerSync", "PickerClient", "SyncCore", "EngineTestKit"],
            swiftSettings: strict),
        .target(name: "TerminalUI", dependencies: ["SyncCore"], swiftSettings: strict),
        .target(
            name: "DaemonCore",
            dependencies: ["SyncCore", "EventLoop", "FormFile", "Store", "CSystem", "CWipe"],
            swiftSettings: strict),
        .executableTarget(
            name: "pickersyncd", dependencies: ["DaemonCore", "SyncCore"], swiftSettings: strict,
            linkerSettings: [
                .unsafeFlags(
                    ["-static-stdlib"] + ordered("pickersyncd"), .when(configuration: .release))
            ]),
        .executableTarget(
            name: "pickerctl",
            dependencies: [
                "SyncCore", "FormFile", "PickerClient", "TerminalUI",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["Programs"])),
            ],
            swiftSettings: strict,
            linkerSettings: [
                .unsafeFlags(
                    ["-static-executable"] + parserLibraries + ordered("pickerctl"),
                    .when(configuration: .release))
            ]),

        .target(
            name: "Link",
            dependencies: ["SyncCore", "EventLoop", "FormFile", "PickerClient", "CNats"],
            swiftSettings: strictMemory),
        .executableTarget(
            name: "pickersync-link",
            dependencies: [
                "Link", "SyncCore",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["Programs"])),
            ],
            swiftSettings: strict,
            linkerSettings: [
                .unsafeFlags(
                    ["-static-stdlib"] + parserLibraries, .when(configuration: .release))
            ]),

        .executableTarget(
            name: "StyleExample", dependencies: ["SyncCore", "TerminalUI"],
            path: "Examples/StyleExample", swiftSettings: strict),

        // What each method can be made to cost within the limits.
        .target(
            name: "CostlyRequests", dependencies: ["SyncCore"], path: "Benchmarks/CostlyRequests",
            swiftSettings: strict),
        .systemLibrary(name: "CCallgrind", path: "Benchmarks/CCallgrind"),
        // The hot paths alone, for profilers and for the guard on their cost.
        .executableTarget(
            name: "HotPaths",
            dependencies: [
                "SyncCore", "FormFile", "TerminalUI", "CostlyRequests", "EngineTestKit",
                "CCallgrind",
            ],
            path: "Benchmarks/HotPaths",
            swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]),
        .executableTarget(
            name: "IceCreamOrder", dependencies: ["PickerSync"], path: "Examples/IceCreamOrder",
            swiftSettings: strict),
        .executableTarget(
            name: "IncomeForm", dependencies: ["PickerSync"], path: "Examples/IncomeForm",
            swiftSettings: strict),
        .executableTarget(
            name: "FollowingService", dependencies: ["PickerSync"],
            path: "Examples/FollowingService", swiftSettings: strict),
        .executableTarget(
            name: "LivePoll", dependencies: ["PickerSync"], path: "Examples/LivePoll",
            swiftSettings: strict),

        .target(name: "SeededRandom", path: "Tests/SeededRandom", swiftSettings: strict),
        .target(
            name: "TestKit", dependencies: ["SeededRandom"], path: "Tests/TestKit",
            swiftSettings: strict),
        // What the product promises, tried hard: Torture/README.md.
        .target(
            name: "TortureKit", dependencies: ["SyncCore", "PickerClient", "CSQLite", "TestKit"],
            path: "Torture", exclude: ["Main", "Faults", "Scripts", "simulate", "README.md"],
            sources: ["Kit", "Rows"], swiftSettings: strict),
        .executableTarget(
            name: "torture", dependencies: ["TortureKit", "CostlyRequests"], path: "Torture/Main",
            swiftSettings: strict),
        .testTarget(
            name: "TortureTests",
            dependencies: [
                "TortureKit", "TestKit", "pickersyncd", "pickerctl", "simulate", "torture",
            ],
            swiftSettings: strict),
        .target(
            name: "EngineTestKit", dependencies: ["SyncCore", "SeededRandom"],
            path: "Tests/EngineTestKit",
            swiftSettings: strict),
        .target(
            name: "Simulation", dependencies: ["SyncCore", "EngineTestKit", "SeededRandom"],
            path: "Tests/Simulation", swiftSettings: strict),
        // Random stories of every method and command against a model in the test's own words.
        .target(
            name: "Stories",
            dependencies: [
                "SyncCore", "EngineTestKit", "Simulation", "SeededRandom", "TortureKit",
            ],
            path: "Tests/Stories", exclude: ["Bugs", "README.md"], swiftSettings: strict),
        .executableTarget(
            name: "simulate", dependencies: ["Simulation", "Stories"], path: "Torture/simulate",
            swiftSettings: strict),
        .testTarget(
            name: "SyncCoreTests",
            dependencies: ["SyncCore", "EngineTestKit", "Simulation", "TestKit"],
            swiftSettings: strict),
        .testTarget(
            name: "SimulationTests",
            dependencies: ["SyncCore", "EngineTestKit", "Simulation", "TestKit"],
            swiftSettings: strict),
        .testTarget(
            name: "StoriesTests",
            dependencies: ["Stories", "SyncCore", "TestKit", "pickersyncd", "pickerctl"],
            swiftSettings: strict),
        .testTarget(
            name: "EventLoopTests", dependencies: ["EventLoop", "CUV", "TestKit"],
            swiftSettings: strict),
        .testTarget(
            name: "StoreTests",
            dependencies: [
                "Store", "SyncCore", "CSQLite", "EngineTestKit", "SeededRandom", "TestKit",
            ],
            exclude: ["Fixtures"],
            swiftSettings: strict),
        .testTarget(
            name: "FormFileTests", dependencies: ["FormFile", "SyncCore", "TestKit"],
            exclude: ["Forms", "check_schema.py"], swiftSettings: strict),
        .testTarget(
            name: "PickerClientTests", dependencies: ["PickerClient", "SyncCore", "TestKit"],
            swiftSettings: strict),
        .testTarget(
            name: "PickerSyncTests",
            dependencies: [
                "PickerSync", "PickerSyncFoundation", "PickerSyncTesting", "PickerClient",
                "SyncCore", "FormFile", "EventLoop", "TestKit",
                "pickersyncd", "pickerctl", "IceCreamOrder", "IncomeForm", "FollowingService",
                "LivePoll",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SwiftUISnippetTests",
            dependencies: ["PickerSync", "PickerSyncFoundation", "TestKit"],
            exclude: ["Originals.txt"], swiftSettings: strict),
        .testTarget(
            name: "TerminalUITests", dependencies: ["TerminalUI", "SyncCore", "TestKit"],
            exclude: ["Goldens"], swiftSettings: strict),
        .testTarget(
            name: "PickerctlTests",
            dependencies: [
                "pickerctl", "PickerClient", "SyncCore", "FormFile", "TerminalUI", "TestKit",
            ],
            exclude: ["Forms", "Live/Goldens", "Live/terminal.py", "Live/tty"],
            swiftSettings: strict),
        .testTarget(
            name: "DaemonCoreTests",
            dependencies: ["DaemonCore", "EventLoop", "FormFile", "SyncCore", "TestKit"],
            swiftSettings: strict),
        .testTarget(
            name: "LinkTests",
            dependencies: ["Link", "SyncCore", "EventLoop", "FormFile", "TestKit"],
            swiftSettings: strict),
        .testTarget(
            name: "SystemTests",
            dependencies: [
                "pickersyncd", "pickerctl", "pickersync-link", "PickerSync", "TestKit",
            ],
            exclude: [
                "alerts.test.yaml", "check_dashboard.py", "check_observability.py",
                "check_openrpc.py", "several_hosts.py",
            ], swiftSettings: strict),
        .testTarget(
            name: "PackageTests",
            dependencies: [
                "DaemonCore", "SyncCore", "pickersyncd", "pickerctl", "pickersync-link", "TestKit",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ArchitectureTests", dependencies: ["TestKit"],
            exclude: ["check_references.py", "check_words.py"], swiftSettings: strict),

        // What the fuzzers try is tried by the tests as well; the fuzzer itself is built by
        // `make fuzz` alone, since all of it is compiled with coverage.
        .target(
            name: "FuzzTargets",
            dependencies: ["SyncCore", "FormFile", "TerminalUI", "EngineTestKit"],
            path: "Fuzz/Targets", swiftSettings: strict),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzTargets", "TestKit"], swiftSettings: strict),
    ]
)

if Context.environment["PICKERSYNC_FUZZ"] != nil {
    package.targets += [
        .target(name: "CFuzzer", path: "Fuzz/CFuzzer"),
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzTargets", "CFuzzer"], path: "Fuzz/Runner",
            swiftSettings: strict),
    ]
}
