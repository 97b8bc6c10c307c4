/// One thing that happened to a realm, or to the agent (interfaces, 6).
package struct AgentEvent: Sendable, Equatable {
    /// Nil where the whole agent is concerned.
    package let realm: String?
    package let fact: EventPayload

    package init(realm: String?, _ fact: EventPayload) {
        self.realm = realm
        self.fact = fact
    }
}

/// What an event says, by kind.
package enum EventPayload: Sendable, Equatable {
    /// A realm came into another state, or another cause keeps it there.
    case state(StateFact)
    /// Something failed: at the server, in the local file, or on the way.
    case error(ErrorFact)
    /// A local value or write that was not taken; the row holds what it held before.
    case rejected(RejectedFact)
    /// A client reset began, ended or failed.
    case reset(ResetFact)
    /// Changes of other devices are in the local file.
    case changed(ChangeFact)
    /// A handler answered, or failed to.
    case plugin(PluginFact)
    /// A user's log-in has changed.
    case user(UserFact)
    /// The configuration was read anew.
    case reloaded(ReloadFact)
    /// Events were missed: those after the position asked for are no longer kept.
    case gap

    /// The word that stands in `event`; it never changes.
    package enum Kind: String, Codable, Sendable, CaseIterable {
        case state, error, rejected, reset, changed, plugin, user, reloaded, gap
    }

    package var kind: Kind {
        switch self {
        case .state: .state
        case .error: .error
        case .rejected: .rejected
        case .reset: .reset
        case .changed: .changed
        case .plugin: .plugin
        case .user: .user
        case .reloaded: .reloaded
        case .gap: .gap
        }
    }
}

package struct StateFact: Sendable, Equatable, Codable {
    package let state: RealmState
    /// A word of interfaces, 5.
    package let cause: String?
    package let detail: String?

    package init(state: RealmState, cause: String? = nil, detail: String? = nil) {
        self.state = state
        self.cause = cause
        self.detail = detail
    }
}

package struct ErrorFact: Sendable, Equatable, Codable {
    /// Words with dots, or the number of the server's error.
    package let code: String
    package let message: String
    /// The session does not go on by itself.
    package let fatal: Bool
    /// The number by which apps on the Realm SDKs know it (features, E2).
    package let sdkCode: Int?
    /// Where the server keeps its own log of the matter.
    package let logURL: String?

    package init(
        code: String,
        message: String,
        fatal: Bool,
        sdkCode: Int? = nil,
        logURL: String? = nil
    ) {
        self.code = code
        self.message = message
        self.fatal = fatal
        self.sdkCode = sdkCode
        self.logURL = logURL
    }

    private enum CodingKeys: String, CodingKey {
        case code, message, fatal, sdkCode
        // In the form that the conversion to and from snake case keeps.
        case logURL = "logUrl"
    }
}

package struct RejectedFact: Sendable, Equatable, Codable {
    /// `local` where the value cannot be sent, `server` where the server undid the write.
    package let by: Side
    package let className: String
    /// The primary key as text.
    package let key: String
    package let property: String?
    package let reason: String

    package enum Side: String, Sendable, Codable {
        case local, server
    }

    package init(by: Side, className: String, key: String, property: String?, reason: String) {
        self.by = by
        self.className = className
        self.key = key
        self.property = property
        self.reason = reason
    }

    private enum CodingKeys: String, CodingKey {
        case by, key, property, reason
        case className = "class"
    }
}

package struct ResetFact: Sendable, Equatable, Codable {
    package let stage: Stage
    package let mode: String?
    package let detail: String?
    /// What a reset in progress does.
    package var step: String?
    /// How much of the download is here, from 0 to 1.
    package var fraction: Double?
    package var didRecover: Bool?
    /// How many changes are in the realm no more.
    package var discarded: Int?
    /// Where what was discarded, or the whole realm, is or will be kept.
    package var recoveryPath: String?
    /// Makes a realm that needs it start over at once.
    package var token: String?

    package enum Stage: String, Sendable, Codable {
        case required, started, progress, finished, failed
        /// The realm was kept as a copy, and begins anew.
        case startedOver = "started_over"
    }

    package init(stage: Stage, mode: String? = nil, detail: String? = nil) {
        self.stage = stage
        self.mode = mode
        self.detail = detail
    }
}

package struct ChangeFact: Sendable, Equatable, Codable {
    package let changesets: Int
    /// How long the transaction that integrated them took.
    package let seconds: Double
    /// The local version that holds them.
    package let localVersion: UInt64

    package init(changesets: Int, seconds: Double, localVersion: UInt64) {
        self.changesets = changesets
        self.seconds = seconds
        self.localVersion = localVersion
    }
}

package struct PluginFact: Sendable, Equatable, Codable {
    package let plugin: String
    /// What it handled: a word of interfaces, 7.
    package let handled: String
    /// Nil where it gave none.
    package let decision: String?
    package let note: String?
    /// Why it counts as having said nothing.
    package let failure: String?

    package init(
        plugin: String,
        handled: String,
        decision: String? = nil,
        note: String? = nil,
        failure: String? = nil
    ) {
        self.plugin = plugin
        self.handled = handled
        self.decision = decision
        self.note = note
        self.failure = failure
    }
}

package struct UserFact: Sendable, Equatable, Codable {
    /// The name in the configuration.
    package let user: String
    package let change: Change

    package enum Change: String, Sendable, Codable, CaseIterable {
        case loggedIn = "logged-in"
        case tokenRefreshed = "token-refreshed"
        case sessionEnded = "session-ended"
        case loggedOut = "logged-out"
        case removed
    }

    package init(user: String, change: Change) {
        self.user = user
        self.change = change
    }
}

package struct ReloadFact: Sendable, Equatable, Codable {
    package let applied: [String]
    package let needRestart: [String]

    package init(applied: [String], needRestart: [String]) {
        self.applied = applied
        self.needRestart = needRestart
    }
}
