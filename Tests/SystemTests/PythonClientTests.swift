import Foundation
import TestKit
import Testing

@Suite("The client in Python")
struct PythonClientTests {
    @Test("the Python client passes its own tests")
    func pythonClient() throws {
        let client = "clients/python"
        let tests = try ChildProcess.run(
            [
                "python3", "-W", "error::ResourceWarning", "-m", "unittest", "discover",
                "-t", client, "-s", client + "/tests",
            ],
            environment: [
                "PICKERSYNC_BIN": builtProducts.path, "PYTHONPATH": client + "/src",
                "PYTHONDONTWRITEBYTECODE": "1",
            ])
        #expect(tests.status == 0, "\(tests.out)")
    }

    @Test("mypy's strictest reading finds nothing in the Python client, its tests and examples")
    func types() throws {
        let client = "clients/python"
        let types = try ChildProcess.run(
            [
                "python3", "-m", "mypy", "--strict", "--config-file", client + "/pyproject.toml",
                "--cache-dir", "/dev/null", client + "/src", client + "/tests",
                client + "/examples",
            ], environment: ["MYPYPATH": "\(client)/src:\(client)"])
        #expect(types.status == 0, "\(types.out)")
    }
}
