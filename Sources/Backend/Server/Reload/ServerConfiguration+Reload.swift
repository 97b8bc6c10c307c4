import ServerConfig

/// Separates the settings that a running server applies from those that need a restart.
extension ServerConfiguration {
    /// Settings that differ and need a restart, by their keys.
    func settingsThatNeedRestart(insteadOf running: ServerConfiguration) -> [String] {
        let settings: [(name: String, isSame: Bool)] = [
            ("listen", listen == running.listen), ("storage", storage == running.storage),
            ("admin_socket", adminSocketPath == running.adminSocketPath),
            ("metrics", metricsAddress == running.metricsAddress),
            ("tls", (tls == nil) == (running.tls == nil)),
            ("log.output", log.output == running.log.output),
            ("limits", limits == running.limits),
        ]
        return settings.filter { !$0.isSame }.map { "server.\($0.name)" }
    }

    /// This configuration, with the running server's values of settings that need a restart.
    func keepingFixedSettings(of running: ServerConfiguration) -> ServerConfiguration {
        var configuration = self
        configuration.listen = running.listen
        configuration.storage = running.storage
        configuration.adminSocket = running.adminSocket
        configuration.metricsAddress = running.metricsAddress
        configuration.log.output = running.log.output
        configuration.limits = running.limits
        if (tls == nil) != (running.tls == nil) { configuration.tls = running.tls }
        return configuration
    }
}
