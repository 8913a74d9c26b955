internal import EventLoop
internal import Glibc

// Where the daemon listens: at sockets that systemd passed, else at the one that it binds.

/// The listening sockets until the loop has them, and the place of our own until the end.
final class Sockets {
    /// One socket; a box, since arrays hold only what can be copied.
    private final class Listening {
        var descriptor: OwnedDescriptor?

        init(_ descriptor: consuming OwnedDescriptor) {
            self.descriptor = consume descriptor
        }
    }

    private var listening: [Listening] = []
    private var own: SocketPlace?
    /// What `ready:` says.
    private(set) var shownPath = ""
    /// Whether they came from the service manager.
    private(set) var arePassed = false

    private init() {}

    /// Takes what was passed, else binds.
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

    /// Gives the sockets to the loop, which accepts from now on.
    func listen(_ shell: Shell) throws(UVError) {
        for socket in listening {
            guard let descriptor = socket.descriptor.take() else { continue }
            try shell.listen(descriptor)
        }
        listening = []
    }

    /// Removes the socket that we bound; one that was passed belongs to the service manager.
    func removeOwn() {
        if let place = own.take() { place.remove() }
    }
}
