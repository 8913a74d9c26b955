// The subjects of a fleet on the NATS server.
//
// Invariant: each subject has one writer, the host that it names, so a server can give permissions
// by host, and a message under another host's subject cannot be opened. A subject has one spelling:
// the name of a form is a token as it is, and names of fleets and hosts must be.

/// A subject of a fleet: who publishes there, and what.
package struct LinkSubject: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// `d`: the transactions of a form, in bundles. The stream keeps them.
        case bundles(form: String)
        /// `s`: the whole state of a form. The stream keeps it.
        case whole(form: String)
        /// `p`: who has a form open, and drafts. Nobody keeps them.
        case presence(form: String)
        /// `b`: beacons. Nobody keeps them.
        case beacon
    }

    package let fleet: String
    package let host: String
    package let content: Content

    /// A subject of these parts; `nil` if a name cannot be one.
    package init?(fleet: String, host: String, _ content: Content) {
        guard Self.isName(fleet), Self.isName(host), content.form?.isFormName != false else {
            return nil
        }
        self.fleet = fleet
        self.host = host
        self.content = content
    }

    /// The longest name of a fleet or a host in bytes, as of a label in the DNS.
    package static let nameBytesMax = 63

    /// Whether a fleet or a host can have this name: ASCII letters, digits, `-` and `_`. The server
    /// uses the name of a stream for a folder.
    package static func isName(_ text: String) -> Bool {
        (1...nameBytesMax).contains(text.utf8.count) && text.utf8.allSatisfy(isPlain)
    }

    package var form: String? { content.form }

    // MARK: Text

    /// The subject with this text; `nil` unless `text` is exactly what `text` of a subject is.
    package init?(_ text: String) {
        let tokens = text.fields(separatedBy: ".")
        guard (4...5).contains(tokens.count), tokens[0] == "ps" else { return nil }
        let content: Content
        switch (tokens[3], tokens.count == 5 ? String(tokens[4]) : nil) {
        case ("d", let form?): content = .bundles(form: form)
        case ("s", let form?): content = .whole(form: form)
        case ("p", let form?): content = .presence(form: form)
        case ("b", nil) where tokens.count == 4: content = .beacon
        default: return nil
        }
        self.init(fleet: String(tokens[1]), host: String(tokens[2]), content)
    }

    /// The text: `ps.FLEET.HOST.d.FORM`.
    package var text: String {
        let place = "ps.\(fleet).\(host).\(content.letter)"
        return form.map { "\(place).\($0)" } ?? place
    }

    /// What the stream of a fleet keeps: all bundles and wholes.
    package static func kept(by fleet: String) -> [String] {
        ["ps.\(fleet).*.d.*", "ps.\(fleet).*.s.*"]
    }

    package static func wholes(of fleet: String) -> String { "ps.\(fleet).*.s.*" }

    /// What a host subscribes to beside its answers: others' presence and all beacons.
    package static func heard(in fleet: String) -> [String] {
        ["ps.\(fleet).*.p.>", "ps.\(fleet).*.b"]
    }

    package static func stream(of fleet: String) -> String { "PS_\(fleet)" }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension LinkSubject.Content {
    var form: String? {
        switch self {
        case .bundles(let form), .whole(let form), .presence(let form): form
        case .beacon: nil
        }
    }

    fileprivate var letter: Character {
        switch self {
        case .bundles: "d"
        case .whole: "s"
        case .presence: "p"
        case .beacon: "b"
        }
    }
}
