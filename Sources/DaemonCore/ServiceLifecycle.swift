internal import EventLoop
internal import Glibc
internal import SyncCore

// Signals, reloads and messages to the service manager.
//
// Invariants: the first SIGTERM or SIGINT starts an orderly shutdown, the second ends the daemon at
// once; a reload that fails changes nothing.

/// The daemon's life around its shell.
final class ServiceLifecycle {
    private enum Reload { case idle, underWay, again }

    private enum Read: Sendable {
        case read(Configuration, [FormFiles.Form])
        case failed([String])
    }

    private let shell: Shell
    private let sources: ConfigurationSources
    private var configuration: Configuration
    private var choices: EngineChoices
    private let reason: GoodbyeReason
    private var reload = Reload.idle
    private var isStopping = false

    /// - Parameter reason: the reason in `goodbye`. It is `restart` if the service manager keeps
    ///   the socket: clients that reconnect wait there until the daemon is back. systemd 252 does
    ///   not tell a service whether it is stopped or restarted.
    init(
        shell: Shell, sources: ConfigurationSources, configuration: Configuration,
        choices: EngineChoices, reason: GoodbyeReason
    ) {
        self.shell = shell
        self.sources = sources
        self.configuration = configuration
        self.choices = choices
        self.reason = reason
        shell.idleExit = configuration.idleExitSeconds.map { .seconds($0) }
    }

    /// Watches SIGTERM, SIGINT and SIGHUP from now on.
    func watchSignals() throws(UVError) {
        for number in [SIGTERM, SIGINT, SIGHUP] {
            let watcher = try SignalWatcher(loop: shell.loop)
            watcher.onSignal = { [unowned self] number in signalled(number) }
            try watcher.start(number)
        }
    }

    private func signalled(_ number: CInt) {
        guard number != SIGHUP else { return beginReload() }
        // The store survives a kill at any time.
        guard !isStopping else { _exit(128 + number) }
        isStopping = true
        shell.stop(reason)
    }

    /// Applies the forms, then accepts connections and reports readiness.
    func begin(_ forms: [FormFiles.Form], readyAt path: String) {
        apply(forms)
        noteLimits()
        shell.whenSettled = { [unowned self] in
            shell.accept()
            shell.log.ready(path)
            shell.manager.ready(status: shell.engine.statusLine)
            // No client waits for the rest of the opening (`StoreOptions.finishesOpeningLater`).
            shell.store.add(.maintain)
            shell.store.add(.measure)
            giveBackPagesOnceQuiet()
        }
        guard let interval = shell.manager.watchdogInterval else { return }
        let timer = Timer(loop: shell.loop)
        timer.onFire = { [unowned self] in shell.manager.isAlive() }
        timer.start(after: .zero, repeating: interval)
    }

    private func giveBackPagesOnceQuiet() {
        let timer = Timer(loop: shell.loop)
        timer.onFire = {
            ProcessLimits.giveBackProgramPages()
            timer.close()
        }
        timer.keepsLoopAlive = false
        timer.start(after: .seconds(1))
    }

    /// Does nothing; keeps this object alive until the loop ends.
    func end() { shell.loop.onIterationEnd = nil }

    private func apply(_ forms: [FormFiles.Form]) {
        for form in forms { shell.tell(.apply(definition: form.definition, file: form.file)) }
    }

    private func noteLimits() {
        let wanted = configuration.limits.connectionsMax
        let granted = choices.engine.limits.connectionsMax
        guard granted < wanted else { return }
        shell.log.write(
            .notice,
            "connectionsMax is \(granted) instead of \(wanted): the kernel grants "
                + "\(choices.descriptorsMax) descriptors (LimitNOFILE=, ulimit -n)")
    }

    // MARK: SIGHUP

    private func beginReload() {
        guard shell.phase == .serving else { return }
        guard case .idle = reload else {
            reload = .again
            return
        }
        reload = .underWay
        shell.manager.reloading()
        Work.start(on: shell.loop) { [sources] in
            Self.read(sources)
        } then: { [weak self] outcome in
            guard let self, case .finished(let read) = outcome else { return }
            finishReload(read)
        }
    }

    /// On a thread of the pool, because files may be on a slow file system.
    private static func read(_ sources: ConfigurationSources) -> Read {
        do throws(StartFailure) {
            let configuration = try Configuration.load(sources)
            return .read(
                configuration, try FormFiles.read(configuration.forms, limits: configuration.limits)
            )
        } catch {
            return .failed(error.messages)
        }
    }

    private func finishReload(_ read: Read) {
        guard shell.phase == .serving else { return }
        switch read {
        case .failed(let messages):
            for message in messages { shell.log.write(.error, message) }
            shell.log.write(.error, "reload failed: the configuration is unchanged")
        case .read(let new, let forms):
            take(new)
            apply(forms)
            shell.log.write(.notice, "reloaded")
        }
        shell.manager.ready(status: shell.engine.statusLine)
        let isWantedAgain = if case .again = reload { true } else { false }
        reload = .idle
        if isWantedAgain { beginReload() }
    }

    private func take(_ new: Configuration) {
        for change in Self.changesForNextStart(configuration, new) {
            shell.log.write(.warning, "\(change) needs a restart of the daemon to change")
        }
        choices = choices.with(new.limits, sharing: new.link?.forms)
        configuration.limits = new.limits
        configuration.forms = new.forms
        if let forms = new.link?.forms { configuration.link?.forms = forms }
        configuration.logLevel = new.logLevel
        configuration.idleExitSeconds = new.idleExitSeconds
        shell.log.level = new.logLevel
        shell.idleExit = new.idleExitSeconds.map { .seconds($0) }
        shell.connectionsMax = choices.engine.limits.connectionsMax + ProcessLimits.refusals
        shell.groupsMax = choices.engine.limits.groupsMax
        shell.tell(.configure(choices.engine))
        noteLimits()
    }

    /// Options whose change has no effect before a restart: the socket and the store are open, and
    /// the store has recorded the durability of this run.
    static func changesForNextStart(_ old: Configuration, _ new: Configuration) -> [String] {
        var changes: [String] = []
        if old.socket != new.socket { changes.append("socket") }
        if old.stateDirectory != new.stateDirectory { changes.append("state-directory") }
        if old.durability != new.durability { changes.append("durability") }
        if old.group != new.group { changes.append("group") }
        var link = old.link
        if let forms = new.link?.forms { link?.forms = forms }
        if link != new.link { changes.append("link") }
        return changes
    }
}
