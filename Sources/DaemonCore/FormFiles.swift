internal import FormFile
internal import SyncCore

// Form files of `--form`, read at start and at each SIGHUP.

enum FormFiles {
    /// A definition and its file.
    struct Form: Sendable {
        let file: String
        let definition: JSON
    }

    /// Reads all files. If one has a mistake, all mistakes are reported and no file is applied.
    static func read(_ paths: [String], limits: Limits) throws(StartFailure) -> [Form] {
        var forms: [Form] = []
        var wrong: [String] = []
        for path in paths {
            switch FormFile.load(path: path, limits: FormLimits(limits)) {
            case .success((_, let definition)):
                forms.append(Form(file: path, definition: definition))
            case .failure(let issues): wrong += issues.issues.map(\.description)
            }
        }
        guard wrong.isEmpty else { throw StartFailure(.formFile, wrong) }
        return forms
    }
}
