/// The body of `POST /v1/realms/R/reset`.
package struct ResetRequest: Codable, Sendable {
    /// A mode of client resets; absent means the one configured.
    package let mode: String?
    /// Say what would happen, and change nothing.
    package let dryRun: Bool?
    /// Names the start from nothing that a realm waits for, and has it made now.
    package let token: String?

    package init(mode: String? = nil, dryRun: Bool? = nil, token: String? = nil) {
        self.mode = mode
        self.dryRun = dryRun
        self.token = token
    }
}

/// What a reset did, or would do.
package struct ResetAnswer: Codable, Sendable, Equatable {
    package let realm: String
    package let outcome: Outcome
    /// Whether unsynced changes were recovered rather than thrown away.
    package var didRecover: Bool
    /// Why changes are thrown away that the mode would rather recover; for people.
    package var reason: String?
    /// Objects with changes that the server had not acknowledged, and that are recovered or thrown away
    /// as `didRecover` says.
    package var unsynced: [Change] = []
    /// Changes that have no place in the server's state any more.
    package var discarded: [Change] = []
    package var createdRows = 0
    package var updatedRows = 0
    package var erasedRows = 0
    /// Where what was thrown away, or the whole realm, is kept.
    package var keptPath: String?

    package enum Outcome: String, Codable, Sendable {
        case done
        case rehearsed
        /// The realm was kept as a copy, and is downloaded anew.
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

/// The answer of a verb that has nothing to tell.
package struct PlainAnswer: Codable, Sendable, Equatable {
    package let realm: String

    package init(realm: String) {
        self.realm = realm
    }
}
