/// The version of the product: in `--version`, `hello` and `server.status`.
public enum Version {
    /// Semantic version of this source tree (semver.org).
    public static let current = "0.1.0"
}
