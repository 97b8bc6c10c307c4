import CSystemd

/// Tells systemd how the daemon is doing; does nothing where nobody asked to be told.
package struct ServiceManager: Sendable {
    package init() {}

    /// The daemon serves: configuration, stores and socket are up.
    package func reportReady() {
        send("READY=1")
    }

    package func reportStopping() {
        send("STOPPING=1")
    }

    /// One line for people, shown by `systemctl status`.
    package func report(status: String) {
        send("STATUS=\(status.replacing("\n", with: " "))")
    }

    private func send(_ state: String) {
        _ = sd_notify(0, state)
    }
}
