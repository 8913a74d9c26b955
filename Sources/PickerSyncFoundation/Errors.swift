// Errors that say what they are where Foundation asks for it, as in `localizedDescription`.

public import Foundation
public import PickerSync

extension FormError: LocalizedError {
    /// One line for a person; several where a declaration has several issues.
    public var errorDescription: String? { description }
}
