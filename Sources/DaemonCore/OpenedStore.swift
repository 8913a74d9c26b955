internal import EventLoop
internal import FormFile
internal import Store
internal import SyncCore

// Opens and closes the store, and creates the engine from it.

/// A store that is open, with the key for its secrets.
struct OpenedStore {
    let store: Store
    private let sealer: Sealer?
    private let fleetKeys: [Sealer]
    private let opening: Opening
    private let keyHours: Int

    /// Opens or makes the store.
    /// - Throws: status 75 where another daemon has it, 73 where it cannot be used.
    static func open(
        _ configuration: Configuration, credentials: String?, newReplica: Bool, _ log: Log
    ) throws(StartFailure) -> OpenedStore {
        var options = StoreOptions()
        options.newReplica = newReplica
        options.everyEditDurable = configuration.durability == .commit
        options.finishesOpeningLater = options.everyEditDurable
        let directory = configuration.stateDirectory
        do throws(SystemError) {
            try FilePlace.makeDirectory(directory, mode: 0o700)
        } catch {
            throw StartFailure(.cannotCreate, "cannot create the state directory: \(error)")
        }
        let fleetKeys = try fleetKeys(configuration, credentials)
        do throws(StoreError) {
            let (store, opening) = try Store.open(directory: directory, options: options)
            say(opening, directory, log)
            return OpenedStore(
                store: store, sealer: sealer(for: store, directory, credentials, log),
                fleetKeys: fleetKeys, opening: opening,
                keyHours: configuration.limits.keyHours)
        } catch {
            throw StartFailure(
                ExitStatus(rawValue: error.exitStatus) ?? .cannotCreate, error.description)
        }
    }

    /// Replaces the store of the configuration with a backup.
    static func restore(
        _ configuration: Configuration, from backup: String, _ log: Log
    ) throws(StartFailure) {
        let directory = configuration.stateDirectory
        do throws(SystemError) {
            try FilePlace.makeDirectory(directory, mode: 0o700)
        } catch {
            throw StartFailure(.cannotCreate, "cannot create the state directory: \(error)")
        }
        do throws(StoreError) {
            let found = try Store.restore(from: backup, directory: directory)
            log.write(
                .notice,
                "restored \(backup) to \(directory): \(found.forms) forms, \(found.revisions) "
                    + "revisions; what was there is kept as pickersync.db.failed-TIME")
            log.write(
                .notice,
                "the next daemon has a new replica and new logs: clients start from its state")
        } catch {
            throw StartFailure(
                ExitStatus(rawValue: error.exitStatus) ?? .cannotCreate, error.description)
        }
    }

    private static func say(_ opening: Opening, _ directory: String, _ log: Log) {
        switch opening.condition {
        case .created: log.write(.notice, "made a new store in \(directory)")
        case .clean: log.write(.debug, "the store in \(directory) was closed cleanly")
        case .unclean: log.write(.notice, "the last daemon in \(directory) was not stopped cleanly")
        }
        switch opening.replicaChange {
        case nil, .created: return
        case .requested: log.write(.notice, "replica \(opening.replica): a new one, as requested")
        case .copied:
            log.write(.notice, "replica \(opening.replica): the store was copied or moved")
        case .restored: log.write(.notice, "replica \(opening.replica): a backup was restored")
        case .editsLost:
            log.write(.warning, "replica \(opening.replica): edits told before may be lost")
        }
    }

    /// Without the key the daemon works, but secrets read as unset.
    private static func sealer(
        for store: Store, _ directory: String, _ credentials: String?, _ log: Log
    ) -> Sealer? {
        do throws(SealerError) {
            let (sealer, unkept) = try Sealer.prepare(
                directory: directory, credentials: credentials)
            if let unkept { store.keep(unkept) }
            return sealer
        } catch {
            log.write(
                .error, "no key for secure fields, which cannot be read or set: \(error)")
            return nil
        }
    }

    /// The keys that the hosts of the fleet share, that which seals first; none without a link.
    static func fleetKeys(
        _ configuration: Configuration, _ credentials: String?
    ) throws(StartFailure) -> [Sealer] {
        guard let link = configuration.link else { return [] }
        do throws(SealerError) {
            return try Sealer.fleetKeys(
                files: link.keys, directory: configuration.stateDirectory,
                credentials: credentials)
        } catch {
            throw StartFailure(
                .configuration,
                "no fleet key: \(error); it is a file of the daemon's user, made once with "
                    + "pickersyncd --new-fleet-key FILE and copied to the other hosts")
        }
    }

    /// No connection of an earlier run that committed anything had a greater number, so a client
    /// knows its own edits also after a restart. A run has at most 1,000,000,000 connections, and
    /// the numbers of the first 9,000,000 runs are exact as doubles.
    var connectionsBefore: UInt64 { UInt64(clamping: opening.run) &* 1_000_000_000 }

    func startEngine(
        _ choices: EngineChoices, _ figures: Figures, _ subordinates: SubordinateUsers,
        _ now: Moment, _ log: Log
    ) throws(StartFailure) -> Engine {
        let image: StoreImage
        do throws(StoreError) {
            // Revisions are read from the store on demand, so the start time does not depend on the
            // history.
            image = try store.loadImage { clock in
                SteadyClock(at: now, kept: clock).milliseconds &- Int64(keyHours) * 3_600_000
            }
        } catch {
            throw StartFailure(
                ExitStatus(rawValue: error.exitStatus) ?? .cannotCreate, error.description)
        }
        do throws(EngineStartError) {
            return try Engine(
                configuration: choices.engine,
                environment: environment(figures, subordinates, log),
                replica: opening.replica, image: image, newLogs: opening.newLogs, at: now)
        } catch {
            throw StartFailure(
                .cannotCreate, "the store holds what cannot be understood: \(error)")
        }
    }

    private func environment(
        _ figures: Figures, _ subordinates: SubordinateUsers, _ log: Log
    ) -> Environment {
        // The engine calls it on the loop's thread, whose log it is.
        nonisolated(unsafe) let log = log
        var environment = Environment(
            random: { UInt64.random(in: .min ... .max) },
            compile: RegularExpression.compiler,
            seal: { [sealer] plaintext, associated in
                sealer?.seal(plaintext: plaintext, associated: associated)
            },
            open: { [sealer] sealed, associated in
                sealer?.open(sealed, associated: associated)
            },
            // Without a key no secret can be set.
            digest: { [sealer] request in sealer?.digest(of: request) ?? Sealer.unkeyed(request) },
            audit: { log.audit($0) },
            accountUID: { subordinates.owner(of: $0) },
            keepMemoryClean: { Wiping.begin() },
            shellStatus: { figures.members() })
        environment.fleetKeys = fleetKeys.first.map { key in
            LinkKeys(
                id: key.id, opening: fleetKeys.map(\.id),
                seal: { key.seal(plaintext: $0, associated: $1) },
                open: { [fleetKeys] id, sealed, place in
                    fleetKeys.first { $0.id == id }?.open(sealed, associated: place)
                },
                // The place in the log is known also after the fleet has changed its key.
                digest: environment.digest)
        }
        return environment
    }

    func close(isClean: Bool, _ log: Log) {
        do throws(StoreError) {
            try store.close(clean: isClean)
        } catch {
            log.write(.error, "cannot close the store: \(error)")
        }
    }
}
