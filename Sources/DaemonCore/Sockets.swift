internal import EventLoop
internal import Glibc

// The sockets on which the daemon listens: those that systemd passed, otherwise one that it binds.

/// The listening sockets until the loop owns them, and the bound socket until the end.
final class Sockets {
    /// One socket; a class, because array elements must be copyable.
    private final class Listening {
        var descriptor: OwnedDescriptor?

        init(_ descriptor: consuming OwnedDescriptor) {
            self.descriptor = consume descriptor
        }
    }

    private var listening: [Listening] = []
    private var own: SocketPlace?
    /// The paths in the `ready:` line.
    private(set) var shownPath = ""
    /// Whether they came from the service manager.
    private(set) var arePassed = false

    private init() {}

    /// Takes the passed sockets, otherwise binds one.
    static func open(
        _ configuration: Configuration, _ environment: ProcessEnvironment, pid: CInt, gid: UInt32?
    ) throws(StartFailure) -> Sockets {
        let sockets = Sockets()
        let count = try PassedSockets.count(environment, pid: pid)
        guard count > 0 else {
            try sockets.bind(configuration, gid: gid)
            return sockets
        }
        let names = PassedSockets.names(environment)
        for index in 0..<Int(count) {
            let passed = try PassedSockets.adopt(
                PassedSockets.firstDescriptor + CInt(index),
                name: names.indices.contains(index) ? names[index] : nil)
            if index == 0 { sockets.shownPath = passed.path }
            sockets.listening.append(Listening(passed.takeDescriptor()))
        }
        sockets.arePassed = true
        return sockets
    }

    private func bind(
        _ configuration: Configuration, gid: UInt32?
    ) throws(StartFailure) {
        let path = configuration.socket
        var bound = try SocketPlace.bind(
            path, group: gid, stateDirectory: configuration.stateDirectory)
        guard let listener = bound.takeListener() else { return }
        listening = [Listening(listener)]
        own = consume bound
        shownPath = path
    }

    /// Passes the sockets to the loop, which starts accepting.
    func listen(_ shell: Shell) throws(UVError) {
        for socket in listening {
            guard let descriptor = socket.descriptor.take() else { continue }
            try shell.listen(descriptor)
        }
        listening = []
    }

    /// Removes the socket that we bound. Passed sockets belong to the service manager.
    func removeOwn() {
        if let place = own.take() { place.remove() }
    }
}
