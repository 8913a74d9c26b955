/// All rows. A new row is a file in this folder and a line here, or an executable in
/// Torture/Scripts.

/// The table's rows.
public enum AllRows {
    /// Rows in Swift.
    static let compiled: [any Row] = [
        CrashRow(), PowerCutRow(), SimulationRow(), StoriesRow(), FullDiskRow(), SyncFailureRow(),
        RetryRow(), MetadataRow(), PressRow(), VoteRow(), LeaseRow(),
        RestartRow(), DayRow(), ClockRow(), WatchRow(),
    ]

    /// All rows by number; rows with the same number in the order of this file.
    public static func inOrder(sources: String) -> [any Row] {
        let all = compiled + ScriptRow.all(in: sources + "/Scripts")
        return all.enumerated().sorted {
            ($0.element.number, $0.offset) < ($1.element.number, $1.offset)
        }.map(\.element)
    }
}
