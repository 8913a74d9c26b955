/// The version of the whole product, in one place: `--version`, `hello` and `server.status` say it.
public enum Version {
    /// Semantic version of this source tree (semver.org).
    public static let current = "0.1.0"
}
