internal import Glibc
internal import Store
internal import SyncCore

// `--check`: reports what the daemon would do, without doing it.

/// The result of a check.
public struct CheckReport: Sendable, Hashable {
    /// The exit status of a start; `success` if the daemon would serve.
    public var status: ExitStatus
    /// The actions of a start, one line each, escaped for a terminal.
    public var plan: [String]
    /// The reasons why it cannot start, one line each, escaped for a terminal.
    public var problems: [String]
}

extension Daemon {
    /// Reads configuration, forms and store, and changes nothing.
    public static func check(_ sources: ConfigurationSources) -> CheckReport {
        var report = CheckReport(status: .success, plan: [], problems: [])
        let configuration: Configuration
        do throws(StartFailure) {
            configuration = try Configuration.load(sources)
        } catch {
            report.add(error)
            return report
        }
        report.say("configuration: \(configuration.file ?? "no file, defaults")")
        report.checkSocket(configuration, sources)
        report.checkStore(configuration)
        report.checkForms(configuration)
        report.checkLink(configuration, sources)
        report.say("durability: \(configuration.durability.rawValue)")
        report.say("log level: \(configuration.logLevel.name)")
        let idle = configuration.idleExitSeconds.map { "after \($0) s without a connection" }
        report.say("idle exit: \(idle ?? "never")")
        for limit in Limits.all {
            let value = configuration.limits[keyPath: limit.path]
            guard value != Limits()[keyPath: limit.path] else { continue }
            report.say("limit \(limit.name): \(value) \(limit.unit)")
        }
        return report
    }
}

extension CheckReport {
    fileprivate mutating func say(_ line: String) { plan.append(line.escapedForDisplay()) }

    fileprivate mutating func add(_ failure: StartFailure) {
        if status == .success { status = failure.status }
        problems += failure.messages.map { $0.escapedForDisplay() }
    }

    fileprivate mutating func checkSocket(
        _ configuration: Configuration, _ sources: ConfigurationSources
    ) {
        do throws(StartFailure) {
            let choices = try EngineChoices(configuration, uid: sources.uid)
            let passed = try PassedSockets.count(sources.environment, pid: getpid())
            if passed > 0 { return say("socket: \(passed) from the service manager") }
            let mode = choices.gid.map { "0660, group \($0)" } ?? "0600"
            let found = try SocketPlace.inspect(configuration.socket)
            say("socket: \(configuration.socket), mode \(mode), \(found)")
        } catch {
            add(error)
        }
    }

    fileprivate mutating func checkStore(_ configuration: Configuration) {
        let directory = configuration.stateDirectory
        switch FilePlace(directory) {
        case .absent: say("store: a new one in \(directory)")
        case .directory(let facts) where facts.mode & 0o077 == 0:
            examineStore(directory)
        case .directory:
            say("store: in \(directory), which others can read: it should have mode 0700")
        case .socket, .link, .other:
            add(StartFailure(.cannotCreate, "\(directory) is not a directory: choose another"))
        }
    }

    /// The properties of the store. Its files are not changed.
    private mutating func examineStore(_ directory: String) {
        do throws(StoreError) {
            guard let store = try Store.examine(directory: directory) else {
                return say("store: a new one in \(directory)")
            }
            let schema =
                store.schema == store.currentSchema
                ? "schema \(store.schema)"
                : "schema \(store.schema), to be brought to \(store.currentSchema)"
            say(
                "store: the one in \(directory), sound; \(schema), replica \(store.replica), "
                    + "\(store.forms) forms, \(store.revisions) revisions, \(store.bytes) bytes, "
                    + (store.wasClosed ? "closed" : "not closed: its daemon was killed"))
        } catch .locked(_, let pid) {
            let holder = pid.map { "process \($0)" } ?? "another process"
            say("store: the one in \(directory), in use by \(holder)")
        } catch {
            add(
                StartFailure(
                    ExitStatus(rawValue: error.exitStatus) ?? .cannotCreate, error.description))
        }
    }

    fileprivate mutating func checkLink(
        _ configuration: Configuration, _ sources: ConfigurationSources
    ) {
        guard let options = configuration.link else { return }
        do throws(StartFailure) {
            let link = try LinkConfiguration(options, daemonUID: sources.uid)
            say(
                "link: fleet \(link.fleet), this host is \(link.host), forms "
                    + options.forms.joined(separator: " ") + ", bridge uid \(link.bridgeUID), "
                    + "mode \(link.mode.rawValue), users \(link.users.rawValue)"
                    + (link.streams.isEmpty
                        ? "" : ", streams of \(link.streams.joined(separator: " "))"))
            _ = try OpenedStore.fleetKeys(
                configuration, sources.environment["CREDENTIALS_DIRECTORY"])
        } catch {
            add(error)
        }
    }

    fileprivate mutating func checkForms(_ configuration: Configuration) {
        do throws(StartFailure) {
            for form in try FormFiles.read(configuration.forms, limits: configuration.limits) {
                say("form: \(form.definition["form"]?.stringValue ?? "?") from \(form.file)")
            }
        } catch {
            add(error)
        }
    }
}
