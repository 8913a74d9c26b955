/// Reads a variable of the environment, such as the seed to replay.

import Foundation

func environment(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name]
}
