/// The body of `POST /v1/realms/R/reset`.
package struct ResetRequest: Codable, Sendable {
    /// A mode of client resets; absent means the one configured.
    package let mode: String?
    /// Preview the reset, and change nothing.
    package let dryRun: Bool?
    /// The token of the start-over that a realm waits for; carries it out now.
    package let token: String?

    package init(mode: String? = nil, dryRun: Bool? = nil, token: String? = nil) {
        self.mode = mode
        self.dryRun = dryRun
        self.token = token
    }
}

/// The result of a reset, or the preview of one.
package struct ResetResponse: Codable, Sendable, Equatable {
    package let realm: String
    package let outcome: Outcome
    /// Whether unsynced changes were recovered, not discarded.
    package var didRecover: Bool
    /// The reason for discarding changes in a mode that recovers; for people.
    package var reason: String?
    /// Objects with unsynced changes, which are recovered or discarded according to `didRecover`.
    package var unsynced: [Change] = []
    /// Changes that have no place in the server's state any more.
    package var discarded: [Change] = []
    package var createdRows = 0
    package var updatedRows = 0
    package var erasedRows = 0
    /// Path at which the discarded changes, or the whole realm, are kept.
    package var keptPath: String?

    package enum Outcome: String, Codable, Sendable {
        case done
        case rehearsed
        /// The realm was archived, and is downloaded again.
        case startedOver = "started-over"
        /// A rehearsal of that.
        case wouldStartOver = "would-start-over"
    }

    package struct Change: Codable, Sendable, Equatable {
        package let className: String
        package let key: String
        package let properties: [String]
        package let note: String?

        package init(className: String, key: String, properties: [String], note: String?) {
            self.className = className
            self.key = key
            self.properties = properties
            self.note = note
        }
    }

    package init(realm: String, outcome: Outcome, didRecover: Bool) {
        self.realm = realm
        self.outcome = outcome
        self.didRecover = didRecover
    }
}

/// The response of an operation without a result.
package struct EmptyResponse: Codable, Sendable, Equatable {
    package let realm: String

    package init(realm: String) {
        self.realm = realm
    }
}
