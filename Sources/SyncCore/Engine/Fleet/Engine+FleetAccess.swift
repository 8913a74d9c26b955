// Who may do what with a shared form: a host may follow, and people are known by their names.

/// Whose a shared form is: uids mean nothing to other hosts.
struct SharedOwner: Hashable {
    let user: String
    let host: String

    /// The owner that the register of a definition names.
    init?(_ register: JSON) {
        guard let user = register["owner"]?["user"]?.stringValue,
            let host = register["owner"]?["host"]?.stringValue
        else { return nil }
        self.user = user
        self.host = host
    }

    /// An author who applies a definition; `nil` unless it is the owner.
    init?(_ author: Author, of form: LiveForm) {
        guard author.uid == form.owner, let host = author.host else { return nil }
        user = author.user
        self.host = host
    }
}

extension FormState {
    /// Whose the form is, if it is shared and somebody has said so.
    var sharedOwner: SharedOwner? {
        shared?.hidden.current(SharedDefinition.key).flatMap(SharedOwner.init)
    }
}

extension Engine {
    /// Whether this host takes what others do to a form, and nobody edits it here.
    func follows(_ form: LiveForm) -> Bool {
        form.link != nil && configuration.link?.mode == .follow
    }

    /// Whether a form that this host follows has edits that were made here before it followed, and
    /// that are not sent.
    func hasEditsApart(_ form: LiveForm) -> Bool {
        guard follows(form), let link = form.link else { return false }
        return !link.outbox.hasTold(
            Dot(replica, form.committed.context.highestCounter(of: replica)))
    }

    /// Why a form that this host follows is not as the others have it; `nil` if it is, or will be.
    func whyApart(_ form: LiveForm, _ agreement: (agreeing: Int, of: Int)) -> String? {
        guard agreement.agreeing < agreement.of, hasEditsApart(form) else { return nil }
        return "this host follows, and has edits of it that are not sent; set link.mode to both "
            + "until they are"
    }

    /// Whether somebody is root, the daemon's user or in its group.
    func operates(_ peer: Peer) -> Bool {
        let isInGroup = configuration.creatorsGID.map { peer.gid == $0 || peer.groups.contains($0) }
        return peer.uid == 0 || peer.uid == configuration.daemonUID || isInGroup ?? false
    }

    /// Refuses edits of a form that this host follows.
    func requireOwnEdits(of form: LiveForm) throws(WireError) {
        guard follows(form), let link = configuration.link else { return }
        throw WireError(
            .forbidden,
            "\(link.host) follows the fleet \(link.fleet): form \(form.name) is edited on other "
                + "hosts (link.mode in pickersyncd.yaml)", form: form.name)
    }

    /// Refuses rules that other hosts would read as other people.
    func requireNames(in definition: FormDefinition) throws(WireError) {
        guard let principal = definition.numberedPrincipal else { return }
        throw WireError(
            .invalidParams,
            "form \(definition.name) is shared with other hosts, where \(principal) is somebody "
                + "else; use user: or group: in its access rules", form: definition.name,
            path: "definition.access")
    }

    /// The uid that `owner` in a rule means for a peer: the peer's own if the form is theirs.
    func owner(
        of form: LiveForm, for peer: Peer, _ action: FormAction? = nil, _ control: Int? = nil
    ) -> UInt32 {
        guard form.link != nil else { return form.owner }
        if let action {
            let rule = form.working.definition.rule(of: action, control: control)
            guard rule.principals.contains(.owner) else { return form.owner }
        }
        return owner(form.owner, form.working.sharedOwner, for: peer)
    }

    func owner(_ uid: UInt32, _ shared: SharedOwner?, for peer: Peer) -> UInt32 {
        let home = peer.identity.home?.host
        guard let shared, let link = configuration.link,
            link.users == .same || shared.host == home ?? link.host,
            shared.user.isSameBytes(as: peer.user)
        else {
            // No number is that of somebody on another host.
            return home == nil ? uid : peer.uid &+ 1
        }
        return peer.uid
    }
}

extension FormDefinition {
    /// A user or a group that its rules name by number; `nil` if there is none.
    var numberedPrincipal: Principal? {
        func numbered(_ rule: AccessRule?) -> Principal? {
            rule?.principals.first {
                switch $0 {
                case .uid, .gid: true
                case .anyone, .owner, .user, .group: false
                }
            }
        }
        for action in FormAction.allCases {
            if let found = numbered(access[action]) { return found }
        }
        for control in controls {
            for action in FormAction.allCases {
                if let found = numbered(control.access[action]) { return found }
            }
            let approval = control.approval
            if let found = numbered(approval?.from) ?? numbered(approval?.breakGlass) {
                return found
            }
        }
        return nil
    }
}
