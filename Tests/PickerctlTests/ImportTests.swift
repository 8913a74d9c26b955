import FormFile
import Foundation
import SyncCore
import TestKit
import Testing

@testable import pickerctl

private let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Forms")

@Suite("Forms made of what people have")
struct ImportTests {
    let bench: Bench

    init() throws { bench = try Bench(starting: false) }

    private func imported(_ arguments: [String]) throws -> (form: JSON, notes: [String]) {
        let outcome = try bench.launch(["form", "import"] + arguments).outcome()
        try #require(outcome.status == 0, "\(outcome.err)")
        let path = try bench.file("made.yaml", outcome.out)
        #expect(try bench.run("form", "check", path).status == 0)
        let json = try YAMLDocument.parse(Array(outcome.out.utf8), name: "made.yaml").json
        return (json, outcome.err.split(separator: "\n").map { String($0.dropFirst(11)) })
    }

    private func field(_ id: String, _ form: JSON) -> JSON? {
        let loose = form["fields"]?.arrayValue ?? []
        let inSections = (form["sections"]?.arrayValue ?? []).flatMap {
            $0["fields"]?.arrayValue ?? []
        }
        return (loose + inSections).first { $0["id"]?.stringValue == id }
    }

    @Test("a whole configuration.yaml gives each helper its control, with every setting that maps")
    func homeAssistant() throws {
        let path = fixtures.appending(path: "configuration.yaml").path
        let (form, notes) = try imported(["--home-assistant", path])
        #expect(form["form"] == "configuration")
        #expect(
            (form["fields"]?.arrayValue ?? []).compactMap { $0["id"]?.stringValue } == [
                "minutes", "notify_home", "guest_mode", "who_cooks", "guest_mode_select", "box1",
                "slider1", "text1", "text3", "secret", "both_date_and_time", "only_date",
                "only_time", "ring_bell",
            ])
        let expected: [JSON] = [
            [
                "id": "minutes", "type": "slider", "min": 5, "max": 60, "step": 5,
                "format": "${value} min",
            ],
            [
                "id": "notify_home", "label": "Notify when someone arrives home",
                "type": "toggle", "default": false,
            ],
            [
                "id": "who_cooks", "label": "Who cooks today", "type": "picker",
                "options": [
                    ["tag": "Paulus", "label": "Paulus"],
                    ["tag": "Anne Therese", "label": "Anne Therese"], ["tag": "3", "label": "3"],
                ], "default": "Anne Therese",
            ],
            [
                "id": "text3", "label": "Text 3", "type": "text", "maxLength": 40,
                "pattern": "(?=(?s:.{8}))[a-fA-F0-9]*", "default": "0123456789abcdef",
            ],
            ["id": "secret", "type": "secure", "maxLength": 100],
            [
                "id": "both_date_and_time", "label": "Input with both date and time",
                "type": "date", "mode": "dateAndTime", "default": "2026-11-21T18:30",
            ],
            ["id": "only_time", "type": "date", "mode": "time", "default": "07:30"],
        ]
        for wanted in expected {
            let id = try #require(wanted["id"]?.stringValue)
            #expect(field(id, form) == wanted, "\(id)")
        }
        let box = try #require(field("box1", form))
        #expect(box["type"] == "stepper" && box["format"] == "${value} °C" && box["step"] != nil)
        for note in [
            "notify_home: icon is left out: a form has no such thing",
            "packages: !include_dir_named is not followed; give that file to import",
            "secret: initial is left out: a form file does not contain secrets",
        ] {
            #expect(notes.contains(note), "\(notes)")
        }
    }

    @Test("a form of helpers takes the values that Home Assistant would take, and refuses others")
    func homeAssistantLives() throws {
        let bench = try Bench()
        let path = fixtures.appending(path: "configuration.yaml").path
        let made = try bench.run("form", "import", "-q", "--home-assistant", path).out
        try bench.apply(made)
        #expect(try bench.run("set", "text3=0123abcd").status == 0)
        #expect(try bench.run("set", "text3=0123").status == 65)
        #expect(try bench.run("set", "box1=20.5", "who_cooks=3").status == 0)
        #expect(try bench.run("set", "box1=36").status == 65)
        #expect(try bench.run("get", "box1", "who_cooks").out == "box1=20.5\nwho_cooks=3\n")
    }

    @Test("a settings schema gives each key its control: ranges, choices, enums, flags, defaults")
    func gsettings() throws {
        let path = fixtures.appending(path: "org.example.player.gschema.xml").path
        let (form, notes) = try imported(["--gsettings", path])
        let expected: [JSON] = [
            ["id": "autostart", "type": "toggle", "default": false],
            // Another schema of the file has one too: told apart by the schema.
            ["id": "player-autostart", "type": "toggle", "default": true],
            [
                "id": "repeat", "type": "picker", "label": "Repeat & loop",
                "help": "What happens at the end of a list.",
                "options": [
                    ["tag": "none", "label": "none"], ["tag": "one", "label": "one"],
                    ["tag": "all", "label": "all"],
                ], "default": "all",
            ],
            [
                "id": "columns", "type": "picker", "multiple": true,
                "options": [
                    ["tag": "title", "label": "title"], ["tag": "artist", "label": "artist"],
                    ["tag": "year", "label": "year"],
                ], "default": ["title", "artist"],
            ],
            ["id": "fade", "type": "slider", "min": 0, "max": 12, "step": 1, "default": 3],
            [
                "id": "port", "type": "stepper", "min": 0, "max": 65_535, "step": 1,
                "default": 6_600,
            ],
            [
                "id": "seed", "type": "stepper", "min": .integer(Int64.min),
                "max": .integer(Int64.max), "step": 1, "default": 127,
            ],
            [
                "id": "theme", "type": "picker",
                "options": [
                    ["tag": "light", "label": "light"], ["tag": "dark", "label": "dark"],
                ], "default": "dark",
            ],
            ["id": "greeting", "type": "text", "default": "It's \"you\""],
        ]
        for wanted in expected {
            let id = try #require(wanted["id"]?.stringValue)
            #expect(field(id, form) == wanted, "\(id): \(field(id, form)?.encodedText ?? "")")
        }
        #expect(field("volume", form)?["type"] == "slider")
        #expect(field("gain", form)?["type"] == "stepper")
        // `value` is a word that a form keeps for itself.
        #expect(field("value", form) == nil && field("player-value", form) != nil)
        #expect(
            notes == [
                "history is left out: no control holds a value of type as",
                "geometry is left out: no control holds a value of type (ii)",
                "child schema org.example.player.window is left out; import it on its own",
            ])
    }

    @Test(
        "one schema of several is named by its id, and what is not there is said with a next step")
    func byID() throws {
        bench.environment["GSETTINGS_SCHEMA_DIR"] = fixtures.path
        let (form, _) = try imported(["--gsettings", "org.example.player"])
        #expect(form["title"] == "org.example.player" && form["form"] == "example-player")
        #expect(field("autostart", form)?["default"] == true)
        let missing = try bench.run("form", "import", "--gsettings", "org.example.nothing")
        #expect(missing.status == 66 && missing.err.contains("gsettings list-schemas"))
    }

    @Test("a schema that would be more than a form holds is cut, and the notes say so")
    func hugeSchemas() throws {
        func made(_ content: String) throws -> Bench.Outcome {
            let path = try bench.file("huge.gschema.xml", "<schemalist>\(content)</schemalist>")
            return try bench.launch(["form", "import", "--gsettings", path]).outcome()
        }
        let values = (0..<10_000).map { "<value nick='v\($0)' value='\($0)'/>" }.joined()
        let keys = (0..<9).map { "<key name='k\($0)' enum='e'><default>'v1'</default></key>" }
        let enums = try made(
            "<enum id='e'>\(values)</enum><schema id='x' path='/x/'>\(keys.joined())</schema>")
        let lines = enums.err.split(separator: "\n")
        #expect(lines.count { $0.contains("left out: the form would have more than") } == 7)
        // Each of the schemas has all keys of the first.
        let flags = (0..<400).map { "<key name='f\($0)' type='b'><default>true</default></key>" }
        let heirs = (0..<200).map { "<schema id='s\($0)' path='/x/' extends='x'/>" }
        let fan = try made(
            "<schema id='x' path='/x/'>\(flags.joined())</schema>\(heirs.joined())")
        #expect(fan.err.contains("what follows 10000 controls is left out"))
    }

    @Test("every schema that this system has gives a form or says why not")
    func installed() throws {
        let folder = "/usr/share/glib-2.0/schemas"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let schemas = files.filter { $0.hasSuffix(".gschema.xml") }.sorted()
        try #require(schemas.count > 10, "gsettings-desktop-schemas is missing")
        for schema in schemas {
            let outcome = try bench.run("form", "import", "--gsettings", "\(folder)/\(schema)")
            if outcome.status == 65 {
                #expect(outcome.err.contains("no key that a control can hold"), "\(schema)")
                continue
            }
            #expect(outcome.status == 0, "\(schema): \(outcome.err)")
            let path = try bench.file("made.yaml", outcome.out)
            #expect(try bench.run("form", "check", "-q", path).status == 0, "\(schema)")
        }
    }

    @Test(
        "what is not XML of that kind is refused with its place",
        arguments: [
            ("<a><b></a>", "1:10: </a> ends <b>"),
            ("<a>&bomb;</a>", "1:4: &bomb; is not a known reference"),
            ("<!DOCTYPE a><a/>", "1:1: a document type is not allowed"),
            ("<a b=c/>", "a quote was"),
            ("<a b='1' b='2'/>", "b is given twice"), ("<a>", "<a> does not end"), ("", "not XML"),
            (String(repeating: "<a>", count: 40), "too deep"), ("<a/><b/>", "behind the root"),
            ("<a>&#0;x&#xD800;</a>", "&#xD800; is not a known reference"),
            ("<a b", "= was expected"),
            (
                "<a " + (0..<65).map { "b\($0)=''" }.joined(separator: " ") + "/>",
                "more than 64 attributes"
            ),
        ])
    func brokenXML(text: String, fault: String) throws {
        do throws(FileIssues) {
            _ = try XMLDocument.parse(Array(text.utf8), name: "x")
            Issue.record("taken: \(text)")
        } catch {
            #expect("\(error)".contains(fault), "\(error)")
        }
    }

    @Test("references, CDATA and comments of XML are read as what they stand for")
    func xml() throws {
        let text =
            "<?xml version='1.0'?><!-- c --><a b='&lt;&#65;&#x42;\"'>x<![CDATA[<&>]]>"
            + "<!-- no --><c/>&apos;y</a >"
        let root = try XMLDocument.parse(Array(text.utf8), name: "x")
        #expect(root["b"] == "<AB\"" && root.text == "x<&>'y" && root.children.count == 1)
    }

    @Test(
        "defaults of settings are read as GVariant's text",
        arguments: [
            ("uint32 5", 5), ("-0x10", -16), ("'a\\u00e9\\n'", "aé\n"), ("@as []", []),
            ("[true, false]", [true, false]), (" objectpath '/x' ", "/x"),
        ] as [(String, JSON)])
    func gvariant(text: String, value: JSON) { #expect(GVariantText.value(text) == value) }

    @Test(
        "an unsupported GVariant is not a value",
        arguments: [
            "(1, 2)", "{'a': 1}", "'open", "just words here", "nothing", "", "[1", "1 2",
            String(repeating: "[", count: 200_000), String(repeating: "@a ", count: 100_000),
            String(repeating: "int32 ", count: 100_000),
        ])
    func noGVariant(text: String) { #expect(GVariantText.value(text) == nil) }
}
