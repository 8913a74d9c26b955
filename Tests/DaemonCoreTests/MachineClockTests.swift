import SyncCore
import Testing

@testable import DaemonCore

@Suite("The start of the machine")
struct MachineClockTests {
    @Test("the kernel's id and that of systemd's %b are the same number")
    func number() {
        let number = MachineClock.number("0b5e6a1c-93d2-4f47-8a60-1f2e3d4c5b6a")
        #expect(number == 0x0b5e_6a1c_93d2_4f47)
        #expect(MachineClock.number("0b5e6a1c93d24f478a601f2e3d4c5b6a") == number)
        for wrong in ["", "%b", "0b5e6a1c", "0b5e6a1c93d24f478a601f2e3d4c5b6ag"] {
            #expect(MachineClock.number(wrong) == 0, "\(wrong)")
        }
    }

    @Test("the variable counts where the kernel's file cannot be read")
    func variable() {
        let id = "0b5e6a1c93d24f478a601f2e3d4c5b6a"
        let environment = ProcessEnvironment(["PICKERSYNC_BOOT_ID": id])
        let hidden = MachineClock(environment, kernelFile: "/proc/no-such-file")
        #expect(hidden.now.boot == MachineClock.number(id))
        #expect(MachineClock(.init([:]), kernelFile: "/proc/no-such-file").now.boot == 0)
        let seen = MachineClock(.init([:])).now.boot
        #expect(seen != 0 && MachineClock(environment).now.boot == seen)
    }
}
