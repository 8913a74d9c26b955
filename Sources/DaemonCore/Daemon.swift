internal import EventLoop
internal import FormFile
internal import Glibc
internal import Store
internal import SyncCore

// Start and end of the process. Invariants: on every exit path all resources are released, the lock
// of the socket last; a failed start prints the reason and leaves no files behind.

/// The daemon.
public enum Daemon {
    /// Runs until it is told to stop.
    /// - Parameters:
    ///   - newReplica: act as if the store were a copy (`--new-replica`).
    /// - Returns: the exit status; errors were printed on standard error.
    public static func run(_ sources: ConfigurationSources, newReplica: Bool) -> ExitStatus {
        ProcessLimits.harden()
        var log = Log(level: .info, environment: sources.environment)
        do throws(StartFailure) {
            let configuration = try Configuration.load(sources)
            log = Log(level: configuration.logLevel, environment: sources.environment)
            return try serve(configuration, sources, newReplica: newReplica, log)
        } catch {
            for message in error.messages { log.write(.error, message) }
            return error.status
        }
    }

    /// Replaces the store with a backup, then exits (`--restore`).
    /// - Returns: the exit status; the result or the error was printed on standard error.
    public static func restore(_ sources: ConfigurationSources, from backup: String) -> ExitStatus {
        ProcessLimits.harden()
        var log = Log(level: .info, environment: sources.environment)
        do throws(StartFailure) {
            let configuration = try Configuration.load(sources)
            log = Log(level: configuration.logLevel, environment: sources.environment)
            try OpenedStore.restore(configuration, from: backup, log)
            return .success
        } catch {
            for message in error.messages { log.write(.error, message) }
            return error.status
        }
    }

    /// Makes a key for a fleet (`--new-fleet-key`).
    /// - Returns: the exit status; the error was printed on standard error.
    public static func makeFleetKey(_ file: String) -> ExitStatus {
        do throws(SealerError) {
            try Sealer.makeFleetKey(file: file)
            return .success
        } catch {
            Log(level: .info, environment: .take()).write(.error, "\(error)")
            return .cannotCreate
        }
    }

    private static func serve(
        _ configuration: Configuration, _ sources: ConfigurationSources, newReplica: Bool,
        _ log: Log
    ) throws(StartFailure) -> ExitStatus {
        let choices = try EngineChoices(configuration, uid: sources.uid)
        let forms = try FormFiles.read(configuration.forms, limits: configuration.limits)
        let sockets = try Sockets.open(
            configuration, sources.environment, pid: getpid(), gid: choices.gid)
        defer { sockets.removeOwn() }
        let store = try OpenedStore.open(
            configuration, credentials: sources.environment["CREDENTIALS_DIRECTORY"],
            newReplica: newReplica, log)
        var isClean = false
        // The lock of the store is always released; only a clean end is marked as clean.
        defer { store.close(isClean: isClean, log) }
        // One for the store, one for names and one for a reload: none has two jobs at a time.
        Work.limitThreads(to: 3)
        let figures = Figures()
        let subordinates = SubordinateUsers()
        let clock = MachineClock(sources.environment)
        let engine = try store.startEngine(choices, figures, subordinates, clock.now, log)
        if configuration.group != nil, !ProcessLimits.seesLoginUIDs {
            log.write(
                .warning,
                "/proc hides the login uids of other users, so who proposes a change can approve "
                    + "it with sudo; mount /proc without hidepid, and set ProtectProc=default")
        }
        do {
            try Loop.withLoop { loop in
                let shell = Shell(
                    loop: loop, engine: engine, log: log,
                    manager: ServiceManager(sources.environment, pid: getpid()),
                    store: StoreQueue(loop: loop, store: store.store, figures: figures),
                    figures: figures, subordinates: subordinates, clock: clock,
                    lastConnection: store.connectionsBefore,
                    connectionsMax: choices.engine.limits.connectionsMax + ProcessLimits.refusals,
                    groupsMax: choices.engine.limits.groupsMax,
                    descriptorsMax: choices.descriptorsMax)
                shell.names.begin()
                let lifecycle = ServiceLifecycle(
                    shell: shell, sources: sources, configuration: configuration, choices: choices,
                    reason: sockets.arePassed ? .restart : .shutdown)
                try lifecycle.watchSignals()
                try sockets.listen(shell)
                shell.onEnd = { isClean = $0 }
                lifecycle.begin(forms, readyAt: sockets.shownPath)
                loop.run()
                lifecycle.end()
            }
        } catch {
            throw StartFailure(.system, "cannot run the event loop: \(error)")
        }
        log.write(isClean ? .info : .error, isClean ? "stopped" : "stopped, and not cleanly")
        return .success
    }
}
