import FormFile
import Foundation
import PickerSync
import SyncCore
import TestKit
import Testing

private enum Stage: String, CaseIterable, PickerTag {
    case staging, production
}

/// What of Examples/forms/deploy.yaml concerns runbooks, declared.
private struct Deploy: SharedForm {
    @Shared var environment = Stage.staging
    @Shared var traffic = 0
    @Shared var maintenance = false
    @Shared var token: Secret
    @Shared var start: Presses
    @Shared var rollback: Presses

    var body: some View {
        Form {
            Picker("Environment", selection: $environment) {
                ForEach(Stage.self) { Text($0.rawValue) }
            }
            Slider("Traffic to the new version", value: $traffic, in: 0...100, step: 5)
                .approval(
                    from: "anyone", when: $environment == .production && $traffic >= 25
                )
                .mayBreakGlass("owner")
            Toggle("Maintenance mode", isOn: $maintenance).leaseMax(.seconds(14_400))
            SecureField("Deploy token", text: $token)
            Button("Start", presses: $start) {}
                .runs(.queue, waitsFor: .seconds(10), timeout: .seconds(1_800))
            Button("Roll back", role: .destructive, presses: $rollback) {}
                .confirm("Roll back production?")
                .requiresMessage()
        }
    }
}

/// Modifiers that reach several controls, and those of a whole form.
private struct Guarded: SharedForm {
    @Shared var traffic = 0
    @Shared var note = ""
    @Shared var go: Presses

    var body: some View {
        Form {
            Group {
                Slider("Traffic", value: $traffic, in: 0...100)
                    .access(to: .write, "user:mary")
                TextField("Note", text: $note)
            }
            .access(to: .write, "group:ops")
            .access(to: .press, "group:ops")
            .approval(from: "group:oncall", "user:mary", count: 2, within: .milliseconds(1_500))
            Button("Go", presses: $go) {}.runs(.one).access(to: .handle, "user:deployer")
        }
        .access(.handle, "owner", "group:ops")
        .labelAlignment(.trailing)
        .requiresMessage()
    }
}

private func parsed(_ json: JSON) throws -> FormDefinition {
    try FormDefinition.parse(json, limits: FormLimits()) { _ in
        .success(PatternMatcher { _ in true })
    }
}

/// What a form says of runbooks in a control.
private func rules(_ form: FormDefinition, _ id: String) throws -> String {
    let control = form.controls[try #require(form.index(of: id))]
    let approval = control.approval.map { rule in
        "\(rule.from) \(rule.count) \(rule.withinMilliseconds) \(rule.breakGlass)"
    }
    return """
        \(control.needsMessage) \(String(describing: control.leaseMax)) \
        \(String(describing: control.runs)) \(approval ?? "-")
        """
}

@Suite("Runbooks in declarations")
struct RunbookDeclarationTests {
    @Test("what the deploy form's file says of messages, leases, runs and approval is declared")
    func deploy() throws {
        let path = sourceTree.appending(path: "Examples/forms/deploy.yaml").path
        let written = try FormFile.load(path: path).get().0
        let declared = try parsed(Deploy().definition())
        for control in declared.controls {
            #expect(
                try rules(declared, control.id) == rules(written, control.id), "\(control.id)")
        }
        let traffic = try #require(
            Deploy().definition()["fields"]?.arrayValue?
                .first { $0["id"] == "traffic" }?["approval"])
        #expect(
            traffic.encodedText
                == #"{"from":["anyone"],"count":1,"within":"30min","#
                + #""when":{"all":[{"environment":"production"},{"traffic":{"atLeast":25}}]}}"#)
    }

    @Test("each control inside has the rule, and the innermost permission wins")
    func inside() throws {
        let json = try Guarded().definition()
        let fields = try #require(json["fields"]?.arrayValue)
        let approval: JSON = [
            "from": ["group:oncall", "user:mary"], "count": 2, "within": "1500ms",
        ]
        #expect(fields[0]["approval"] == approval && fields[1]["approval"] == approval)
        #expect(fields[0]["access"] == ["write": ["user:mary"], "press": ["group:ops"]])
        #expect(fields[1]["access"] == ["write": ["group:ops"], "press": ["group:ops"]])
        #expect(fields[2]["access"] == ["handle": ["user:deployer"]])
        #expect(json["access"] == ["handle": ["owner", "group:ops"]])
        #expect(json["message"] == "required")
        #expect(json["labelAlignment"] == "trailing")
        #expect(try Deploy().definition()["labelAlignment"] == nil)
        let form = try parsed(json)
        #expect(form.controls.allSatisfy { $0.needsMessage })
        #expect(form.controls[0].approval?.count == 2)
    }

    @Test("a rule where there can be none is an issue with its place")
    func issues() throws {
        struct Wrong: SharedForm {
            @Shared var password: Secret
            @Shared var speed = 0
            @Shared var go: Presses
            var body: some View {
                Form {
                    SecureField("Password", text: $password).approval(from: "owner")
                    Slider("Speed", value: $speed, in: 0...9).mayBreakGlass("owner")
                    Button("Go", presses: $go) {}.leaseMax(.seconds(60))
                }
            }
        }
        let issues = try #require(throws: FormIssues.self) { try Wrong().definition() }.issues
        #expect(issues.count == 3, "\(issues)")
        let texts = issues.map { "\($0)" }
        #expect(texts.contains { $0.contains("a secret cannot be proposed") }, "\(texts)")
        #expect(texts.contains { $0.contains("breakGlass needs approval") }, "\(texts)")
        #expect(texts.contains { $0.contains("cannot end by itself") }, "\(texts)")
    }
}
