import Foundation
import TestKit
import Testing

// What `make install` puts where, and that it can be taken away again.

@Suite("make install", .serialized)
struct InstallTests {
    @Test("what is installed is uninstalled, to the last file")
    func roundTrip() throws {
        let stage = try TemporaryFolder()
        let installed = try make("install", into: stage, "PREFIX=/usr/local")
        try #require(installed.status == 0, "\(installed.out)")
        let found = files(below: stage.url)
        for path in [
            "usr/local/bin/pickersyncd", "usr/local/bin/pickerctl",
            "usr/local/lib/systemd/system/pickersyncd.service",
            "usr/local/lib/systemd/system/pickersyncd.socket",
            "usr/local/lib/systemd/user/pickersyncd.service",
            "usr/local/lib/systemd/user/pickersyncd.socket",
            "usr/local/lib/sysusers.d/pickersync.conf", "etc/pickersync/pickersyncd.yaml",
            "usr/local/share/man/man1/pickerctl.1", "usr/local/share/man/man5/pickersync-form.5",
            "usr/local/share/man/man7/pickersync-protocol.7",
            "usr/local/share/zsh/site-functions/_pickerctl",
            "usr/local/share/pickersync/schema/form.schema.json",
            "usr/local/share/doc/pickersync/PROTOCOL.md",
        ] {
            #expect(found.contains(path), "\(path) is not installed")
        }
        let unit = try String(
            contentsOfFile: stage("usr/local/lib/systemd/system/pickersyncd.service"),
            encoding: .utf8)
        #expect(unit.contains("ExecStart=/usr/local/bin/pickersyncd "))
        let removed = try make("uninstall", into: stage, "PREFIX=/usr/local")
        #expect(removed.status == 0, "\(removed.out)")
        #expect(files(below: stage.url) == [])
    }

    @Test("a configuration that somebody wrote is neither overwritten nor removed")
    func configuration() throws {
        let stage = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: stage("etc/pickersync"), withIntermediateDirectories: true)
        let path = stage("etc/pickersync/pickersyncd.yaml")
        try "log-level: debug\n".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(try make("install", into: stage).status == 0)
        #expect(try make("uninstall", into: stage).status == 0)
        #expect(files(below: stage.url) == ["etc/pickersync/pickersyncd.yaml"])
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "log-level: debug\n")
    }

    @Test("each key that the shipped configuration shows is what holds without it")
    func shippedConfiguration() throws {
        let folder = try TemporaryFolder()
        let shipped = try String(
            contentsOf: sourceTree.appending(path: "packaging/pickersyncd.yaml"), encoding: .utf8)
        let shown = shipped.split(separator: "\n").filter {
            $0.hasPrefix("#") && !$0.hasPrefix("# ")
        }.map { $0.dropFirst() }
        #expect(shown.count >= 4)
        try shown.joined(separator: "\n").write(
            toFile: folder("file.yaml"), atomically: false, encoding: .utf8)
        try "".write(toFile: folder("empty.yaml"), atomically: false, encoding: .utf8)
        func plan(_ name: String) throws -> String {
            let said = try run([
                builtProgram("pickersyncd"), "--check", "--config", folder(name),
                "--socket", folder("sock"), "--state-directory", folder("state"),
            ])
            #expect(said.status == 0, "\(said.out)")
            return said.out.replacing(name, with: "FILE")
        }
        #expect(try plan("file.yaml") == plan("empty.yaml"))
    }
}

@Suite("completions where each shell looks for them", .serialized)
struct CompletionPlaceTests {
    let stage: TemporaryFolder

    init() throws {
        stage = try TemporaryFolder()
        let done = try make("install-completions", into: stage, "PREFIX=/usr")
        try #require(done.status == 0, "\(done.out)")
    }

    @Test(
        "bash loads them by itself",
        .enabled(if: FileManager.default.fileExists(atPath: loader), "needs bash-completion"))
    func bash() throws {
        let said = try run(
            [
                "bash", "--norc", "-c",
                """
                . \(loader)
                PATH=\(builtProducts.path):$PATH
                _completion_loader pickerctl
                complete -p pickerctl
                COMP_WORDS=(pickerctl desc) COMP_CWORD=1 COMP_LINE='pickerctl desc' COMP_POINT=14
                COMP_TYPE=9
                $(complete -p pickerctl | sed 's/.*-F \\([^ ]*\\) .*/\\1/') pickerctl desc pickerctl
                printf '<%s>' "${COMPREPLY[@]}"
                """,
            ], environment: ["XDG_DATA_DIRS": stage("usr/share"), "HOME": stage.url.path])
        #expect(said.out.contains("<describe"), "\(said.out)")
    }

    @Test("zsh finds the function in its folders", .enabled(if: installedProgram("zsh") != nil))
    func zsh() throws {
        let folder = stage("usr/share/zsh/vendor-completions")
        let said = try run(
            [
                "zsh", "-f", "-c",
                """
                print -l usual $fpath
                fpath=(\(folder) $fpath); autoload -U compinit; compinit -u -D
                print found ${_comps[pickerctl]}; autoload +X _pickerctl && print loaded
                """,
            ], environment: ["HOME": stage.url.path])
        // Debian's zsh has these two by itself, for packages and for what is installed by hand.
        #expect(said.lines.contains("/usr/share/zsh/vendor-completions"), "\(said.out)")
        #expect(said.lines.contains("/usr/local/share/zsh/site-functions"), "\(said.out)")
        #expect(said.out.contains("found _pickerctl\nloaded"), "\(said.out)")
    }

    @Test("fish loads them by itself", .enabled(if: installedProgram("fish") != nil))
    func fish() throws {
        let said = try run(
            ["fish", "-c", "complete -C 'pickerctl desc'"],
            environment: [
                "XDG_DATA_DIRS": stage("usr/share") + ":/usr/share", "HOME": stage.url.path,
                "XDG_CONFIG_HOME": stage("config"),
                "PATH": "\(builtProducts.path):/usr/bin:/bin",
            ])
        #expect(said.out.contains("describe"), "\(said.out)")
    }
}

/// What Debian's bash-completion loads a command's file with.
private let loader = "/usr/share/bash-completion/bash_completion"
