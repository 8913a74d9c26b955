internal import ArgumentParser
internal import Glibc
internal import PickerClient

/// `pickerctl relay`: what `--host` runs on the other machine.
struct RelayCommand: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        "relay", abstract: "Connect standard input and output with the daemon: for --host.",
        discussion: """
            pickerctl --host runs this on the other machine, over ssh. It is of use in an \
            authorized_keys(5) file that allows nothing else.

            Example: command="pickerctl relay",restrict ssh-ed25519 AAAA...
            """)
    @OptionGroup var common: CommonOptions

    func run() throws {
        let settings = common.settings
        guard settings.host == nil else {
            throw Failure.usage(UsageWords.relayHasNoHost)
        }
        do throws(ClientFailure) {
            let relay = try Relay(
                socket: settings.socket, autostart: settings.autostart, input: STDIN_FILENO,
                output: STDOUT_FILENO)
            relay.run()
        } catch {
            throw Failure(error)
        }
    }
}
