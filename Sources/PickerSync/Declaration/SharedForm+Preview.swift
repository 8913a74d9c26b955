// A declaration as text, as a terminal shows it with its defaults.

internal import SyncCore
public import TerminalUI

extension SharedForm {
    /// The form as a terminal shows it, with its defaults, as lines of text.
    ///
    ///     print(try IceCream().preview(columns: 60))
    ///
    /// Styles of the program's own are shown as well. At most 10,000 lines are shown; one line
    /// after them says how many more there are.
    ///
    /// - Parameters:
    ///   - columns: the width of the terminal, of which at most 1,000 are used.
    ///   - styles: the terminal's colours, marks and styles, which the text then has as control
    ///     sequences; `nil` for plain text in the built-in styles.
    /// - Throws: all issues, each with its place.
    public func preview(
        columns: Int = 80, styles: StyleEnvironment? = nil
    ) throws(FormIssues) -> String {
        let declaration = try FormDeclaration(self)
        let definition = try FormDefinition.parse(declaration.json, limits: FormLimits()) { _ in
            .success(PatternMatcher { _ in true })
        }
        return FormPreview(definition, styles: declaration.styles).text(
            columns: columns, in: styles ?? StyleEnvironment(), hasStyle: styles != nil)
    }
}
