// Who may do what with a form (FORM.md, Access): a pure function of the kernel's word on the peer.

/// What somebody does with a form or a control.
public enum FormAction: String, Hashable, Sendable, CaseIterable {
    case read, write, press, reveal
    /// Applying, deleting, setting options and what is locked.
    case admin

    /// What they may or may not do, in a sentence: `write`, `administer`.
    var verb: String { self == .admin ? "administer" : rawValue }
}

/// Somebody, or several, as a form names them.
public enum Principal: Hashable, Sendable {
    case anyone
    /// The uid that created the form.
    case owner
    case user(String)
    case group(String)
    case uid(UInt32)
    case gid(UInt32)

    /// A principal as written: `anyone`, `owner`, `user:NAME`, `group:NAME`, `uid:N`, `gid:N`.
    public init?(_ text: String) {
        switch text {
        case "anyone": self = .anyone
        case "owner": self = .owner
        default:
            guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let name = String(text[text.utf8.index(after: colon)...])
            guard !name.isEmpty else { return nil }
            switch text[..<colon] {
            case "user": self = .user(name)
            case "group": self = .group(name)
            case "uid":
                guard let number = Self.number(name) else { return nil }
                self = .uid(number)
            case "gid":
                guard let number = Self.number(name) else { return nil }
                self = .gid(number)
            default: return nil
            }
        }
    }

    /// A number in digits alone: no sign, which `UInt32.init` would take.
    private static func number(_ text: String) -> UInt32? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            ? UInt32(text) : nil
    }

    /// Whether `peer` is meant, in a form of `owner`'s.
    public func includes(_ peer: Peer, owner: UInt32) -> Bool {
        switch self {
        case .anyone: true
        case .owner: peer.uid == owner
        case .user(let name): peer.user.isSameBytes(as: name)
        case .group(let name): peer.groupNames.contains { $0.isSameBytes(as: name) }
        case .uid(let uid): peer.uid == uid
        case .gid(let gid): peer.gid == gid || peer.groups.contains(gid)
        }
    }
}

extension Principal: CustomStringConvertible {
    /// As it is written in a form.
    public var description: String {
        switch self {
        case .anyone: "anyone"
        case .owner: "owner"
        case .user(let name): "user:" + name
        case .group(let name): "group:" + name
        case .uid(let uid): "uid:\(uid)"
        case .gid(let gid): "gid:\(gid)"
        }
    }
}

/// Those who may do one thing. An empty list is nobody (but the daemon's own uid and root).
public struct AccessRule: Hashable, Sendable {
    public var principals: [Principal]

    /// A rule for these.
    public init(_ principals: [Principal]) {
        self.principals = principals
    }

    /// Whether `peer` may, in a form of `owner`'s.
    public func permits(_ peer: Peer, owner: UInt32) -> Bool {
        principals.contains { $0.includes(peer, owner: owner) }
    }
}

/// A form's rules. Without one of its own, an action has the default of FORM.md.
public struct FormAccess: Hashable, Sendable {
    public var read = AccessRule([.anyone])
    public var write = AccessRule([.anyone])
    public var press = AccessRule([.anyone])
    public var reveal = AccessRule([.owner])
    public var admin = AccessRule([.owner])

    /// The defaults.
    public init() {}

    /// The rule for `action`.
    public subscript(action: FormAction) -> AccessRule {
        get {
            switch action {
            case .read: read
            case .write: write
            case .press: press
            case .reveal: reveal
            case .admin: admin
            }
        }
        set {
            switch action {
            case .read: read = newValue
            case .write: write = newValue
            case .press: press = newValue
            case .reveal: reveal = newValue
            case .admin: admin = newValue
            }
        }
    }
}

/// A control's own rules, each in place of the form's.
public struct ControlAccess: Hashable, Sendable {
    public var write: AccessRule?
    public var press: AccessRule?
    public var reveal: AccessRule?

    /// None of its own.
    public init() {}

    /// The control's own rule for `action`.
    public subscript(action: FormAction) -> AccessRule? {
        switch action {
        case .write: write
        case .press: press
        case .reveal: reveal
        case .read, .admin: nil
        }
    }
}

extension FormDefinition {
    /// Whether `peer` may do `action` with the form, or with one control of it.
    ///
    /// Root and the daemon's own uid always may: both can read and write the store anyway, and a
    /// form that locked them out could not be repaired. Setting what is locked takes `admin` too.
    public func permits(
        _ action: FormAction, control: Int? = nil, peer: Peer, owner: UInt32, daemonUID: UInt32
    ) -> Bool {
        if peer.uid == 0 || peer.uid == daemonUID { return true }
        guard let control else { return access[action].permits(peer, owner: owner) }
        let rule = controls[control].access[action] ?? access[action]
        return rule.permits(peer, owner: owner)
    }
}
