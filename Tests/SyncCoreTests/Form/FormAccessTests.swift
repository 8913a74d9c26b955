// Who may do what.

import SyncCore
import Testing

@Suite("Access")
struct FormAccessTests {
    static let mary = Peer(
        pid: 1, uid: 1001, gid: 100, groups: [44], user: "mary", groupNames: ["users", "video"])
    static let owner = Peer(pid: 2, uid: 1000, gid: 100, user: "ann")
    static let root = Peer(pid: 3, uid: 0, gid: 0, user: "root")

    private func permits(
        _ form: FormDefinition, _ action: FormAction, _ peer: Peer, control: Int? = nil
    ) -> Bool {
        form.permits(action, control: control, peer: peer, owner: 1000, daemonUID: 990)
    }

    @Test("without rules anyone reads, writes and presses; the owner reveals and administers")
    func defaults() throws {
        let form = try form(of: #""type": "toggle""#)
        for action in FormAction.allCases {
            let isOpen = [.read, .write, .press].contains(action)
            #expect(permits(form, action, Self.mary) == isOpen)
            #expect(permits(form, action, Self.owner))
        }
    }

    @Test("root and the daemon's own uid always may")
    func superusers() throws {
        let form = try form(
            fields: #"{"id": "x", "type": "toggle"}"#,
            top: #""access": {"read": [], "admin": []},"#)
        #expect(!permits(form, .read, Self.owner) && !permits(form, .admin, Self.owner))
        #expect(permits(form, .read, Self.root))
        #expect(permits(form, .admin, Peer(pid: 1, uid: 990, gid: 990, user: "pickersync")))
    }

    @Test(
        "principals name people as the kernel knows them",
        arguments: [
            ("anyone", true), ("owner", false), ("user:mary", true), ("user:ann", false),
            ("user:Mary", false), ("group:video", true), ("group:root", false), ("uid:1001", true),
            ("uid:1000", false), ("gid:100", true), ("gid:44", true), ("gid:45", false),
        ])
    func principals(text: String, includesMary: Bool) throws {
        let principal = try #require(Principal(text))
        #expect(principal.includes(Self.mary, owner: 1000) == includesMary)
        #expect(principal.description == text)
    }

    @Test(
        "other texts are not principals",
        arguments: [
            "", "me", "user:", "group:", "uid:", "uid:x", "uid:+1", "uid:-1", "uid:4294967296",
            "Owner",
            "gid:1.0", "user", ":mary",
        ])
    func noPrincipals(text: String) {
        #expect(Principal(text) == nil)
    }

    @Test("a control's rule replaces the form's")
    func controls() throws {
        let form = try form(
            fields: #"""
                {"id": "x", "type": "toggle", "access": {"write": ["user:mary"]}},
                {"id": "y", "type": "toggle"}
                """#, top: #""access": {"write": ["owner"]},"#)
        #expect(permits(form, .write, Self.mary, control: 0))
        #expect(!permits(form, .write, Self.owner, control: 0))
        #expect(!permits(form, .write, Self.mary, control: 1))
        #expect(permits(form, .read, Self.mary, control: 0))
    }

    @Test("ids become environment variables, and near ids are found")
    func names() throws {
        let form = try form(
            fields: #"{"id": "eu-west_1a", "type": "toggle"}, {"id": "flavor", "type": "toggle"}"#)
        #expect(Control.environmentKey(of: form.controls[0].id) == "EU_WEST_1A")
        #expect(form.idsSimilar(to: "flavour") == ["flavor"])
        #expect(form.idsSimilar(to: "falvor") == ["flavor"])
        #expect(form.idsSimilar(to: "temperature") == [])
        #expect(form.idsSimilar(to: String(repeating: "x", count: 1 << 20)) == [])
        #expect(form.index(of: "flavor") == 1 && form.index(of: "\u{212A}") == nil)
    }
}
