internal import FormFile
internal import SyncCore

// Converts the configuration to the engine's configuration.

/// The engine's configuration, and the system properties that it depends on.
struct EngineChoices: Sendable {
    var engine: EngineConfiguration
    /// The group of `--group`.
    var gid: UInt32?
    /// How many descriptors the kernel grants.
    var descriptorsMax: Int

    /// Looks up the group and reduces the limits to what the kernel allows.
    ///
    /// The group's look-up may block; it happens before clients are served.
    init(_ configuration: Configuration, uid: UInt32) throws(StartFailure) {
        if let group = configuration.group {
            guard let number = SystemNames.groupNumber(group) else {
                throw StartFailure(
                    .configuration, "no group \"\(group)\": create it, or choose another")
            }
            gid = number
        }
        let (limits, descriptors) = ProcessLimits.fit(configuration.limits)
        descriptorsMax = descriptors
        engine = EngineConfiguration(
            durability: configuration.durability, limits: limits,
            serverName: "pickersyncd/\(Version.current)", daemonUID: uid, creatorsGID: gid)
        engine.link = try configuration.link.map { options throws(StartFailure) in
            try LinkConfiguration(options, daemonUID: uid)
        }
    }

    /// The same with limits and shared forms that were read again.
    func with(_ limits: Limits, sharing forms: [String]?) -> EngineChoices {
        var choices = self
        if let forms { choices.engine.link?.forms = forms.map { Glob($0) } }
        (choices.engine.limits, choices.descriptorsMax) = ProcessLimits.fit(limits)
        return choices
    }
}
