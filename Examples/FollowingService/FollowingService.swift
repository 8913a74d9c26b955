// A service that follows its settings: no file to reload, no signal to send, no restart.
//
// Run it with `swift run FollowingService`, then `pickerctl set workers=8`. It ends
// when somebody switches it off.

import PickerSync

enum LogLevel: String, CaseIterable, PickerTag {
    case error, warning, info, debug
}

struct ServiceSettings: SharedForm {
    @Shared var workers = 4
    @Shared("log-level") var logLevel = LogLevel.info
    @Shared var maintenance = false
    @Shared var running = true
    /// What the service itself shows: people read it, the service sets it.
    @Shared var load = 0.0

    var body: some View {
        Form("Service", help: "What the service does, without a restart.") {
            Section("Settings") {
                Stepper("Workers", value: $workers, in: 1...64)
                    .disabled($maintenance == true)
                Picker("Log level", selection: $logLevel) {
                    ForEach(LogLevel.self) { Text($0.rawValue) }
                }
            }
            Section("State") {
                Toggle("Maintenance", isOn: $maintenance).onConflict(.trueWins)
                Toggle("Running", isOn: $running)
                Gauge("Load", value: $load, in: 0...1).tint(.red, from: 0.9)
            }
        }
    }
}

@main
enum Program {
    static func main() async throws {
        let settings = ServiceSettings()
        let client = FormClient(ConnectionOptions(client: "FollowingService"))
        // The program that starts first declares the form. What an administrator has changed in it
        // since is kept.
        _ = try await client.open(settings, applying: .ifMissing)

        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await workers in settings.$workers.values {
                    print("\(workers) workers")
                    settings.load = Double(workers) / 64
                }
            }
            group.addTask {
                for await level in settings.$logLevel.values { print("logging from \(level) on") }
            }
            group.addTask {
                for await isDown in settings.$maintenance.values where isDown {
                    print("in maintenance")
                }
            }
            for await isRunning in settings.$running.values where !isRunning { break }
            group.cancelAll()
        }
        try await client.shutdown(flushingFor: .seconds(5))
        print("stopped")
    }
}
