import Foundation
import TestKit
import Testing

@Suite("Metrics, dashboard, alert rules")
struct ObservabilityTests {
    @Test("promtool takes metrics, rules and panels, and none refers to a metric that is not there")
    func promtool() throws {
        let folder = try TemporaryFolder()
        let daemon = try linkedDaemon(folder)
        let writer = try WireClient(daemon.socket)
        try writer.apply()
        let metrics = try ChildProcess.run(
            [builtProgram("pickerctl"), "--socket", daemon.socket, "status", "-o", "prometheus"])
        #expect(metrics.status == 0)
        // scripts/dependencies puts it there.
        let tools = ProcessInfo.processInfo.environment["PICKERSYNC_TOOLS"] ?? ".build/tools"
        let run = try ChildProcess.run(
            [
                "python3", "Tests/SystemTests/check_observability.py", "docs/observability",
                try folder.write("metrics", metrics.out), tools + "/promtool",
            ])
        #expect(run.status == 0, "\(run.out)")
    }

    @Test("a Prometheus that reads the daemon's metrics answers every query of the dashboard")
    func prometheus() throws {
        let folder = try TemporaryFolder()
        let daemon = try linkedDaemon(folder)
        let writer = try WireClient(daemon.socket)
        try writer.apply()
        let tools = ProcessInfo.processInfo.environment["PICKERSYNC_TOOLS"] ?? ".build/tools"
        let run = try ChildProcess.run(
            [
                "python3", "Tests/SystemTests/check_dashboard.py",
                "docs/observability/grafana-dashboard.json", tools + "/prometheus",
                builtProgram("pickerctl"), daemon.socket,
            ])
        #expect(run.status == 0, "\(run.out)")
    }

    @Test("each alert rule fires when what it is about is so, and none while all is well")
    func alerts() throws {
        let tools = ProcessInfo.processInfo.environment["PICKERSYNC_TOOLS"] ?? ".build/tools"
        let run = try ChildProcess.run(
            [tools + "/promtool", "test", "rules", "Tests/SystemTests/alerts.test.yaml"])
        #expect(run.status == 0, "\(run.out)")
    }

    /// A daemon of a fleet with two sites, whose bridge is away.
    private func linkedDaemon(_ folder: TemporaryFolder) throws -> DaemonProcess {
        _ = try ChildProcess.run([
            builtProgram("pickersyncd"), "--new-fleet-key", folder("key"),
        ])
        let link = [
            "fleet=ops", "host=web1", "forms=*", "key=\(folder("key"))", "streams=berlin",
            "streams=hub",
        ]
        return try DaemonProcess(folder, more: link.flatMap { ["--link", $0] }).ready()
    }
}
