/// Which settings a running server takes over, and which count from its next start.
extension ServerConfiguration {
    /// Those that differ and that a running server cannot change, by their keys.
    func settingsThatNeedRestart(insteadOf running: ServerConfiguration) -> [String] {
        let settings: [(name: String, isSame: Bool)] = [
            ("listen", listen == running.listen), ("storage", storage == running.storage),
            ("admin_socket", adminSocketPath == running.adminSocketPath),
            ("tls", (tls == nil) == (running.tls == nil)),
            ("log.output", log.output == running.log.output),
            ("limits", limits == running.limits),
        ]
        return settings.filter { !$0.isSame }.map { "server.\($0.name)" }
    }

    /// This configuration as far as a running server can follow it.
    func keepingFixedSettings(of running: ServerConfiguration) -> ServerConfiguration {
        var configuration = self
        configuration.listen = running.listen
        configuration.storage = running.storage
        configuration.adminSocket = running.adminSocket
        configuration.log.output = running.log.output
        configuration.limits = running.limits
        if (tls == nil) != (running.tls == nil) { configuration.tls = running.tls }
        return configuration
    }
}
