// Access control of forms (FORM.md, Access): a pure function of the kernel's credentials of a peer.

/// An action on a form or a control.
public enum FormAction: String, Hashable, Sendable, CaseIterable {
    case read, write, press, reveal
    /// Take presses of buttons with `runs`.
    case handle
    /// Apply, delete, set options, and set locked controls.
    case admin

    /// The verb for sentences: `write`, `administer`.
    var verb: String { self == .admin ? "administer" : rawValue }
}

/// A user, or several, as named in a form.
public enum Principal: Hashable, Sendable {
    case anyone
    /// The uid that created the form.
    case owner
    case user(String)
    case group(String)
    case uid(UInt32)
    case gid(UInt32)

    /// Parses a principal: `anyone`, `owner`, `user:NAME`, `group:NAME`, `uid:N`, `gid:N`.
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

    /// A number of digits only. `UInt32.init` would accept a sign.
    private static func number(_ text: String) -> UInt32? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            ? UInt32(text) : nil
    }

    /// Whether `peer` is included, for a form of `owner`.
    public func includes(_ peer: Peer, owner: UInt32) -> Bool {
        switch self {
        case .anyone: true
        case .owner: peer.uid == owner
        case .user(let name): peer.user.isSameBytes(as: name)
        case .group(let name): peer.identity.isMember(of: name)
        case .uid(let uid): peer.uid == uid
        case .gid(let gid): peer.identity.isMember(of: gid)
        }
    }
}

extension Principal: CustomStringConvertible {
    /// The text in a form.
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

/// The principals that may perform an action. An empty list is nobody (except the daemon's own uid
/// and root).
public struct AccessRule: Hashable, Sendable {
    public var principals: [Principal]

    /// A rule for these principals.
    public init(_ principals: [Principal]) {
        self.principals = principals
    }

    /// Whether it permits everybody and nothing has to be looked up.
    var isForAnyone: Bool { principals == [.anyone] }

    /// Whether `peer` may perform the action, for a form of `owner`.
    public func permits(_ peer: Peer, owner: UInt32) -> Bool {
        principals.contains { $0.includes(peer, owner: owner) }
    }

    /// Who may approve a change, for a message: `group:oncall, bob`, at most 8; `others` if anybody
    /// but its author may.
    public var approvers: String {
        principals.contains(.anyone)
            ? "others" : principals.prefix(8).map(\.description).joined(separator: ", ")
    }
}

/// The place of an access rule: a control's own rule, or the form's if `control` is `nil`.
struct AccessPlace: Hashable {
    let action: FormAction
    let control: Int?
}

/// A form's rules. Without one of its own, an action has the default of FORM.md.
public struct FormAccess: Hashable, Sendable {
    public var read = AccessRule([.anyone])
    public var write = AccessRule([.anyone])
    public var press = AccessRule([.anyone])
    public var reveal = AccessRule([.owner])
    public var handle = AccessRule([.owner])
    public var admin = AccessRule([.owner])

    /// Only defaults.
    public init() {}

    /// The rule for `action`.
    public subscript(action: FormAction) -> AccessRule {
        get {
            switch action {
            case .read: read
            case .write: write
            case .press: press
            case .reveal: reveal
            case .handle: handle
            case .admin: admin
            }
        }
        set {
            switch action {
            case .read: read = newValue
            case .write: write = newValue
            case .press: press = newValue
            case .reveal: reveal = newValue
            case .handle: handle = newValue
            case .admin: admin = newValue
            }
        }
    }
}

/// The rules of a control, which replace the form's.
public struct ControlAccess: Hashable, Sendable {
    public var write: AccessRule?
    public var press: AccessRule?
    public var reveal: AccessRule?
    public var handle: AccessRule?

    /// No rules.
    public init() {}

    /// The control's own rule for `action`.
    public subscript(action: FormAction) -> AccessRule? {
        switch action {
        case .write: write
        case .press: press
        case .reveal: reveal
        case .handle: handle
        case .read, .admin: nil
        }
    }
}

extension FormDefinition {
    /// Who may do `action` with a control, or with the form.
    func rule(of action: FormAction, control: Int?) -> AccessRule {
        control.flatMap { controls[$0].access[action] } ?? access[action]
    }

    /// Whether `peer` may do `action` with the form, or with one control of it.
    ///
    /// Root and the daemon's own uid always may, because both can read and write the store anyway,
    /// and a form that excluded them could not be repaired. Setting a locked control needs `admin`
    /// too.
    public func permits(
        _ action: FormAction, control: Int? = nil, peer: Peer, owner: UInt32, daemonUID: UInt32
    ) -> Bool {
        if peer.uid == 0 || peer.uid == daemonUID { return true }
        return rule(of: action, control: control).permits(peer, owner: owner)
    }
}
