internal import FormFile
public import SyncCore

// The configuration of the daemon. Invariants: flags override the environment, the environment
// overrides the file, and the file overrides the defaults; all mistakes in all sources are reported
// at once.

/// Every option with its current value.
public struct Configuration: Sendable, Equatable {
    /// Where the daemon listens, unless systemd passed it a socket.
    public var socket: String
    /// The folder of the store, made with mode 0700.
    public var stateDirectory: String
    public var durability: Durability
    /// Members may connect and create forms: a name or a number, not yet looked up.
    public var group: String?
    /// Form files applied at start and at each SIGHUP.
    public var forms: [String]
    /// The daemon exits after this time without a connection; `nil`: never.
    public var idleExitSeconds: Int?
    public var logLevel: LogEntry.Priority
    public var limits: Limits
    /// The link to the daemons of other hosts; `nil`: none.
    public var link: LinkOptions?
    /// The file that was read; `nil` if there was none.
    public var file: String?
}

/// Where the options come from.
public struct ConfigurationSources: Sendable {
    /// The flags: each option with its values as they were typed.
    public var flags: [(option: ConfigurationOption, values: [String])]
    /// `--config`: a file that must exist.
    public var file: String?
    public var environment: ProcessEnvironment
    /// The daemon's own uid: root uses the paths of the system.
    public var uid: UInt32
    /// Relative paths in flags and variables are relative to this folder.
    public var workingDirectory: String

    /// The given sources.
    public init(
        flags: [(option: ConfigurationOption, values: [String])] = [], file: String? = nil,
        environment: ProcessEnvironment, uid: UInt32, workingDirectory: String
    ) {
        self.flags = flags
        self.file = file
        self.environment = environment
        self.uid = uid
        self.workingDirectory = workingDirectory
    }

    /// Whether this is the system's daemon: root's, or that of a system unit with a
    /// `StateDirectory=` (systemd.exec(5)). A user's own daemon lives under the XDG directories.
    var isSystem: Bool { uid == 0 || environment["STATE_DIRECTORY"] != nil }
}

extension Configuration {
    /// Reads all sources.
    /// - Throws: status 64 if only flags are wrong, otherwise 78, with a line for each mistake.
    public static func load(
        _ sources: ConfigurationSources
    ) throws(StartFailure) -> Configuration {
        try load(sources, read: readIfPresent)
    }

    /// Reads all sources; `read` gives the bytes of a file, or `nil` if there is none.
    static func load(
        _ sources: ConfigurationSources, read: (String) throws(FileIssues) -> [UInt8]?
    ) throws(StartFailure) -> Configuration {
        var (wrongUsage, wrongConfiguration): ([String], [String]) = ([], [])
        let flags = sources.flagLayer(&wrongUsage)
        let variables = sources.variableLayer(&wrongConfiguration)
        let (file, inFile) = sources.fileLayer(&wrongConfiguration, read: read)
        let wrong = wrongUsage + wrongConfiguration
        guard wrong.isEmpty else {
            throw StartFailure(wrongConfiguration.isEmpty ? .usage : .configuration, wrong)
        }
        let layers = [flags, variables, inFile]
        let places = try sources.defaultPlaces(
            stateDirectoryIsKnown: layers.contains { $0.stateDirectory != nil })
        func strongest<Value>(_ path: KeyPath<ConfigurationLayer, Value?>) -> Value? {
            for layer in layers { if let value = layer[keyPath: path] { return value } }
            return nil
        }
        var limits = Limits()
        for setting in layers.reversed().flatMap(\.limits) { limits.set(setting) }
        var link = strongest(\.link)
        if let fault = link?.fault { throw StartFailure(.configuration, fault) }
        if link != nil, link?.bridge == nil, sources.isSystem,
            SystemNames.userNumber("pickersync-link") != nil
        {
            link?.bridge = "pickersync-link"
        }
        // The bridge is a connection, and others may want what this host has at any time.
        let idle = link == nil ? strongest(\.idleExitSeconds) ?? 0 : 0
        return Configuration(
            socket: strongest(\.socket) ?? places.socket,
            stateDirectory: strongest(\.stateDirectory) ?? places.state,
            durability: strongest(\.durability) ?? .commit, group: strongest(\.group),
            forms: strongest(\.forms) ?? [], idleExitSeconds: idle == 0 ? nil : idle,
            logLevel: strongest(\.logLevel) ?? .info, limits: limits, link: link,
            file: file)
    }

    /// Reads a file of the file system; `nil` if there is none.
    private static func readIfPresent(_ path: String) throws(FileIssues) -> [UInt8]? {
        guard FilePlace(path) != .absent else { return nil }
        return try FileReading.bytes(ofFile: path, alsoDescriptors: false)
    }
}

extension Limits {
    fileprivate mutating func set(_ setting: LimitSetting) {
        for limit in Self.all where limit.name == setting.name {
            self[keyPath: limit.path] = setting.value
        }
    }
}

extension ConfigurationSources {
    fileprivate func flagLayer(_ wrong: inout [String]) -> ConfigurationLayer {
        var layer = ConfigurationLayer()
        for (option, values) in flags {
            for value in values {
                do throws(BadValue) {
                    try layer.set(option, value, folder: workingDirectory)
                } catch {
                    wrong.append("\(option.flag): " + error.line)
                }
            }
        }
        return layer
    }

    fileprivate func variableLayer(_ wrong: inout [String]) -> ConfigurationLayer {
        var layer = ConfigurationLayer()
        for option in ConfigurationOption.allCases {
            guard let text = environment[option.variable] else { continue }
            let isList = [.forms, .limits, .link].contains(option)
            let values = isList ? text.split(separator: ":").map(String.init) : [text]
            for value in values {
                do throws(BadValue) {
                    try layer.set(option, value, folder: workingDirectory)
                } catch {
                    wrong.append("\(option.variable): " + error.line)
                }
            }
        }
        return layer
    }

    /// A file that was requested must exist; the default file is optional.
    fileprivate func fileLayer(
        _ wrong: inout [String], read: (String) throws(FileIssues) -> [UInt8]?
    ) -> (file: String?, layer: ConfigurationLayer) {
        let asked = file ?? environment["PICKERSYNC_CONFIG"]
        guard let path = asked.map(absolute) ?? usualFile else { return (nil, .init()) }
        do throws(FileIssues) {
            guard let bytes = try read(path) else {
                if asked != nil { wrong.append("\(path): no such file") }
                return (nil, .init())
            }
            return (path, try ConfigurationLayer.parse(bytes, file: path))
        } catch {
            wrong += error.issues.map(\.description)
            return (path, .init())
        }
    }

    private func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : workingDirectory + "/" + path
    }

    private var usualFile: String? {
        if isSystem { return "/etc/pickersync/pickersyncd.yaml" }
        let home = environment["HOME"].map { $0 + "/.config" }
        return xdg("XDG_CONFIG_HOME", else: home).map { $0 + "/pickersync/pickersyncd.yaml" }
    }

    /// The XDG specification says that relative paths in its variables must be ignored.
    private func xdg(_ name: String, else fallback: String? = nil) -> String? {
        if let path = environment[name], path.hasPrefix("/") { return path }
        return fallback
    }

    /// The first of the folders that systemd created; several are separated by colons.
    private func folder(_ name: String) -> String? {
        environment[name].flatMap { $0.split(separator: ":").first.map(String.init) }
    }

    fileprivate func defaultPlaces(
        stateDirectoryIsKnown: Bool
    ) throws(StartFailure) -> (socket: String, state: String) {
        let passed = folder("RUNTIME_DIRECTORY").map { $0 + "/sock" }
        var state = folder("STATE_DIRECTORY")
        let usual: String
        if isSystem {
            usual = "/run/pickersync/sock"
            state = state ?? "/var/lib/pickersync"
        } else {
            usual = userRuntimeDirectory + "/sock"
            let home = environment["HOME"].map { $0 + "/.local/state" }
            state = state ?? xdg("XDG_STATE_HOME", else: home).map { $0 + "/pickersync" }
        }
        guard state != nil || stateDirectoryIsKnown else {
            throw StartFailure(
                .configuration, "no place for the store: set HOME or --state-directory DIR")
        }
        return (passed ?? usual, state ?? "")
    }

    /// The path that pickerctl uses too: without `XDG_RUNTIME_DIR`, the usual value of that
    /// variable, otherwise a private folder in /tmp, whose owner is checked before use.
    private var userRuntimeDirectory: String {
        if let runtime = xdg("XDG_RUNTIME_DIR") { return runtime + "/pickersync" }
        if case .directory = FilePlace("/run/user/\(uid)") { return "/run/user/\(uid)/pickersync" }
        return "/tmp/pickersync-\(uid)"
    }
}
