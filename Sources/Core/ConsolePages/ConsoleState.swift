/// Everything that the console shows, as values that the admin API returned.
package struct ConsoleState: Hashable, Sendable {
    package struct App: Hashable, Sendable {
        package let id: String
        /// `file` or `store`.
        package let origin: String
        /// `enabled`, `paused` or `terminated`.
        package let syncState: String

        package init(id: String, origin: String, syncState: String) {
            self.id = id
            self.origin = origin
            self.syncState = syncState
        }
    }

    package struct Realm: Hashable, Sendable {
        package let partition: String
        package let version: UInt64
        package let historyBytes: UInt64

        package init(partition: String, version: UInt64, historyBytes: UInt64) {
            self.partition = partition
            self.version = version
            self.historyBytes = historyBytes
        }
    }

    package struct User: Hashable, Sendable {
        package let id: String
        package let isDisabled: Bool
        /// Providers, with the e-mail address of those that have one.
        package let identities: [String]

        package init(id: String, isDisabled: Bool, identities: [String]) {
            self.id = id
            self.isDisabled = isDisabled
            self.identities = identities
        }
    }

    /// A token that waits for its owner; the token itself is not part of it.
    package struct Pending: Hashable, Sendable {
        package let email: String
        package let purpose: String

        package init(email: String, purpose: String) {
            self.email = email
            self.purpose = purpose
        }
    }

    /// One app as the console shows it below the list of all.
    package struct Detail: Hashable, Sendable {
        package let app: App
        /// Of all processes.
        package let connections: Int
        package let sessions: Int
        package let realms: [Realm]
        package let users: [User]
        package let pending: [Pending]

        package init(
            app: App,
            connections: Int,
            sessions: Int,
            realms: [Realm],
            users: [User],
            pending: [Pending]
        ) {
            self.app = app
            self.connections = connections
            self.sessions = sessions
            self.realms = realms
            self.users = users
            self.pending = pending
        }
    }

    /// The reason for not serving clients; nil if it serves.
    package let obstacle: String?
    package let apps: [App]
    package let samples: MetricSamples
    /// Nil if the server has no app.
    package let detail: Detail?

    package init(obstacle: String?, apps: [App], samples: MetricSamples, detail: Detail?) {
        self.obstacle = obstacle
        self.apps = apps
        self.samples = samples
        self.detail = detail
    }
}

/// An action of the operator, and its outcome.
package struct ConsoleDeed: Hashable, Sendable {
    package let title: String
    /// The server's refusal, or the reason why it was not asked; nil if it was done.
    package let refusal: String?

    package init(title: String, refusal: String?) {
        self.title = title
        self.refusal = refusal
    }
}
