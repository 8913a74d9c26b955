import Foundation
import Testing

@Suite("The client in Python")
struct PythonClientTests {
    @Test("the Python client passes its own tests and mypy's strictest reading")
    func pythonClient() throws {
        let client = "clients/python"
        let tests = try said(
            "/usr/bin/env", ["python3", "-m", "unittest", "discover", "-s", client + "/tests"],
            environment: [
                "PICKERSYNC_BIN": builtExecutables, "PYTHONPATH": client + "/src",
                "PYTHONDONTWRITEBYTECODE": "1",
            ])
        #expect(tests.status == 0, "\(tests.text)")
        let types = try said(
            "/usr/bin/env",
            [
                "python3", "-m", "mypy", "--strict", "--cache-dir", "/dev/null",
                client + "/src", client + "/tests",
            ], environment: ["MYPYPATH": client + "/src"])
        #expect(types.status == 0, "\(types.text)")
    }
}
