extension FormDefinition {
    /// Parses.
    public static func parse(
        _ json: JSON, limits: FormLimits, compile: PatternCompiler
    ) throws(FormIssues) -> FormDefinition {
        throw FormIssues([])
    }
}
