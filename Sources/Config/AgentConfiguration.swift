package import Scheduling
package import Settings

/// The agent's configuration, complete and checked: later code does not check it again.
package struct AgentConfiguration: Hashable, Sendable {
    package var daemon: DaemonConfiguration
    /// Each of the four in the order of their names.
    package var apps: [AppConfiguration]
    package var users: [UserConfiguration]
    package var realms: [RealmConfiguration]
    package var plugins: [PluginConfiguration]
    package var network: NetworkPolicy
}

/// Settings of the agent's process (section `agent`).
package struct DaemonConfiguration: Hashable, Sendable {
    package var dataDirectory: String
    package var controlSocket: String
    static let standardControlSocket = "/run/realm-agent/control.sock"
    /// The group whose members may change things through the control socket.
    package var controlGroup: String
    package static let standardControlGroup = "realm-agent"
    package var log: LogConfiguration
    /// TCP address that serves metrics; nil for none.
    package var metricsAddress: ListenAddress?
    /// Maximum time without an acknowledgement of local changes while connected.
    package var stalledAfter = Duration.seconds(300)
}

/// Log levels and destination.
package struct LogConfiguration: Hashable, Sendable {
    package var level: Level
    /// Nil if it is not configured: the journal if it listens, else standard error.
    package var output: Output?
    /// The level of a category and all below it: `Sync.Client` covers `Sync.Client.Reset`.
    package var categories: [String: Level]
    /// Whether keys and values of objects are in the log.
    package var showsValues = false

    package enum Level: String, CaseIterable, Sendable {
        case off, fatal, error, warn, info, detail, debug, trace, all
    }

    package enum Output: String, CaseIterable, Sendable {
        case journald, stderr
    }
}
