import Foundation
import SyncCore
import TestKit
import Testing

@testable import pickerctl

@Suite("Metrics")
struct MetricsTests {
    @Test("a number of the daemon's becomes seconds or bytes, with HELP and TYPE before it")
    func lines() {
        let lines = Metrics.lines([
            "server": "pickersyncd/0.1.0", "protocol": 1, "replica": "3f9a.1",
            "startedAt": "2026-11-21T10:00:00.500Z", "uptimeMs": 1_005, "durability": "commit",
            "writable": true, "counters": ["requests": 7, "commits": 2, "commitUs": 1_500],
            "limits": ["maxFrame": 1_048_576, "keyHours": 24, "intervalMilliseconds": 100],
        ])
        #expect(
            lines.filter { !$0.hasPrefix("# HELP") } == [
                "# TYPE pickersync_build_info gauge",
                "pickersync_build_info{version=\"0.1.0\",protocol=\"1\",replica=\"3f9a.1\","
                    + "durability=\"commit\"} 1",
                "# TYPE pickersync_start_time_seconds gauge",
                "pickersync_start_time_seconds 1795255200.500",
                "# TYPE pickersync_uptime_seconds gauge", "pickersync_uptime_seconds 1.005",
                "# TYPE pickersync_requests_total counter", "pickersync_requests_total 7",
                "# TYPE pickersync_commit_duration_seconds summary",
                "pickersync_commit_duration_seconds_sum 0.001500",
                "pickersync_commit_duration_seconds_count 2",
                "# TYPE pickersync_store_writable gauge", "pickersync_store_writable 1",
                "# TYPE pickersync_limit_frame_bytes gauge",
                "pickersync_limit_frame_bytes 1048576",
                "# TYPE pickersync_limit_key_seconds gauge", "pickersync_limit_key_seconds 86400",
                "# TYPE pickersync_limit_interval_seconds gauge",
                "pickersync_limit_interval_seconds 0.100",
            ])
        #expect(lines.count { $0.hasPrefix("# HELP") } == 9)
    }

    @Test("whatever the daemon says of itself is a metric, a label or left out on purpose")
    func complete() throws {
        let bench = try Bench()
        func report() throws -> JSON {
            try JSON(parsing: Array(bench.run("status", "-o", "json").out.utf8))
        }
        // The store is measured once the daemon accepts.
        try eventually("the store is measured") { try report()["store"] != nil }
        let status = try report()
        // They are labels of `pickersync_build_info`, or part of a metric.
        let leftOut: Set<String> = [
            "server", "protocol", "replica", "startedAt", "durability", "trouble", "pid", "limits",
        ]
        // One past turn, for a person who looks for the cause of a delay.
        let diagnostic = ["loop", "costliestTurn"]
        let told = Set(Metrics.all.flatMap(\.samples).map { $0.path.joined(separator: ".") })
        func check(_ json: JSON, _ path: [String]) {
            if path == diagnostic { return }
            if let object = json.objectValue {
                for (name, value) in object.members { check(value, path + [name]) }
            } else {
                #expect(told.contains(path.joined(separator: ".")), "\(path): no metric has it")
            }
        }
        for (name, value) in status.objectValue?.members ?? []
        where !leftOut.contains(name) {
            check(value, [name])
        }
        let lines = try bench.run("status", "-o", "prometheus").lines
        // A daemon without a link has no metrics of one.
        for name in Metrics.all.map(\.name) where !name.hasPrefix("pickersync_link_") {
            #expect(lines.contains { $0.hasPrefix("# TYPE \(name) ") }, "\(name) is not told")
        }
        #expect(
            Set(Limits.all.map { Metrics.limitName($0).name }).count == Limits.all.count)
    }
}
