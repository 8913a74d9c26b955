/// One step from a JSON value to a value inside it.
public enum PathStep: Hashable, Sendable {
    /// Into an object, to the member of this name.
    case key(String)
    /// Into an array, to the element at this index, counted from 0.
    case index(Int)
}
