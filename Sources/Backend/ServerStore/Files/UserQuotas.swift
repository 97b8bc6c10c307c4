/// The quotas of one user of an app (`apps.APP.quotas`); nil: no limit.
package struct UserQuotas: Hashable, Sendable {
    /// Realms in which the user has client files.
    package var realms: Int?
    /// Client files in all realms: one for each replica on a device.
    package var clientFiles: Int?
    /// Log-in sessions; beyond it the oldest ends.
    package var sessions: Int?
    /// Bytes of history that the user has uploaded and that are not trimmed.
    package var historyBytes: Int?

    package init(
        realms: Int? = 2000,
        clientFiles: Int? = 5000,
        sessions: Int? = 1000,
        historyBytes: Int? = 10 << 30
    ) {
        self.realms = realms
        self.clientFiles = clientFiles
        self.sessions = sessions
        self.historyBytes = historyBytes
    }

    package static let standard = UserQuotas()
    package static let unlimited = UserQuotas(
        realms: nil,
        clientFiles: nil,
        sessions: nil,
        historyBytes: nil
    )
}

/// A user's present usage.
package struct UserUsage: Hashable, Sendable {
    package var realms = 0
    package var clientFiles = 0
    /// Whether one of the client files belongs to the realm of the query.
    package var isInRealm = false

    package init(realms: Int = 0, clientFiles: Int = 0, isInRealm: Bool = false) {
        self.realms = realms
        self.clientFiles = clientFiles
        self.isInRealm = isInRealm
    }
}
