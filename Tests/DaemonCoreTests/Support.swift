@testable import DaemonCore

/// Binds; the failure as a value.
func bindFailure(_ path: String, group: UInt32? = nil) -> StartFailure? {
    do throws(StartFailure) {
        let place = try SocketPlace.bind(path, group: group)
        place.remove()
        return nil
    } catch {
        return error
    }
}
