import CSystemd
import Glibc

/// Reports the daemon's state to systemd; does nothing if systemd did not ask for it.
package struct ServiceManager: Sendable {
    package init() {}

    /// The daemon serves: configuration, stores and socket are up.
    package func reportReady() {
        send("READY=1")
    }

    /// The daemon reloads its configuration, and will report that it is ready again.
    package func reportReloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
        send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)")
    }

    package func reportStopping() {
        send("STOPPING=1")
    }

    /// One line for people, shown by `systemctl status`.
    package func report(status: String) {
        send("STATUS=\(status.replacing("\n", with: " "))")
    }

    /// The daemon cannot start yet, for a reason that `systemctl status` shows; call it every second, because
    /// systemd gives up a start that takes long.
    package func reportWaiting(_ reason: String) {
        send("EXTEND_TIMEOUT_USEC=30000000\nSTATUS=\(reason)")
    }

    /// The daemon is alive; call it more often than `watchdogPeriod`.
    package func reportAlive() {
        send("WATCHDOG=1")
    }

    /// The time without `reportAlive` after which systemd kills the daemon; nil if it never does.
    package var watchdogPeriod: Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }

    private func send(_ state: String) {
        _ = sd_notify(0, state)
    }
}
