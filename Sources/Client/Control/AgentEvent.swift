/// One thing that happened to a realm, or to the agent (interfaces, 6).
package struct AgentEvent: Sendable, Equatable {
    /// Nil if the event concerns the whole agent.
    package let realm: String?
    package let payload: EventPayload

    package init(realm: String?, _ payload: EventPayload) {
        self.realm = realm
        self.payload = payload
    }
}

/// The content of an event, by kind.
package enum EventPayload: Sendable, Equatable {
    /// A realm came into another state, or another cause keeps it there.
    case state(StatePayload)
    /// An error of the server, the local file or the network.
    case error(ErrorPayload)
    /// A rejected local value or write; the row has its previous value again.
    case rejected(RejectedPayload)
    /// A client reset began, ended or failed.
    case reset(ResetPayload)
    /// A subscription set of a realm with flexible sync came into another state.
    case subscription(SubscriptionPayload)
    /// Changes of other devices are in the local file.
    case changed(ChangePayload)
    /// A handler answered, or failed to.
    case plugin(PluginPayload)
    /// A user's log-in has changed.
    case user(UserPayload)
    /// The configuration was reloaded.
    case reloaded(ReloadPayload)
    /// Events were missed: those after the position asked for are no longer kept.
    case gap

    /// The value of the member `event`; it never changes.
    package enum Kind: String, Codable, Sendable, CaseIterable {
        case state, error, rejected, reset, subscription, changed, plugin, user, reloaded, gap
    }

    package var kind: Kind {
        switch self {
        case .state: .state
        case .error: .error
        case .rejected: .rejected
        case .reset: .reset
        case .subscription: .subscription
        case .changed: .changed
        case .plugin: .plugin
        case .user: .user
        case .reloaded: .reloaded
        case .gap: .gap
        }
    }
}

package struct StatePayload: Sendable, Equatable, Codable {
    package let state: RealmState
    /// A state of interfaces, 5.
    package let cause: String?
    package let detail: String?

    package init(state: RealmState, cause: String? = nil, detail: String? = nil) {
        self.state = state
        self.cause = cause
        self.detail = detail
    }
}

package struct ErrorPayload: Sendable, Equatable, Codable {
    /// The code of `docs/errors.md`.
    package let code: String
    package let message: String
    /// The session does not retry automatically.
    package let fatal: Bool
    /// The number that the Realm SDKs give this error (features, E2).
    package let sdkCode: Int?
    /// The number of the server's error; absent for others.
    package let serverCode: Int?
    /// URL of the server's log of the error.
    package let logURL: String?

    package init(
        code: String,
        message: String,
        fatal: Bool,
        sdkCode: Int? = nil,
        serverCode: Int? = nil,
        logURL: String? = nil
    ) {
        self.code = code
        self.message = message
        self.fatal = fatal
        self.sdkCode = sdkCode
        self.serverCode = serverCode
        self.logURL = logURL
    }

    private enum CodingKeys: String, CodingKey {
        case code, message, fatal, sdkCode, serverCode
        // In the form that the conversion to and from snake case keeps.
        case logURL = "logUrl"
    }
}

package struct RejectedPayload: Sendable, Equatable, Codable {
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

package struct ResetPayload: Sendable, Equatable, Codable {
    package let stage: Stage
    package let mode: String?
    package let detail: String?
    /// The step of a reset in progress.
    package var step: String?
    /// Downloaded share, from 0 to 1.
    package var fraction: Double?
    package var didRecover: Bool?
    /// Number of changes that are no longer in the realm.
    package var discarded: Int?
    /// Path at which the discarded changes, or the whole realm, are or will be kept.
    package var recoveryPath: String?
    /// Makes a realm that needs it start over at once.
    package var token: String?

    package enum Stage: String, Sendable, Codable {
        case required, started, progress, finished, failed
        /// The realm was archived, and starts over.
        case startedOver = "started_over"
    }

    package init(stage: Stage, mode: String? = nil, detail: String? = nil) {
        self.stage = stage
        self.mode = mode
        self.detail = detail
    }
}

package struct ChangePayload: Sendable, Equatable, Codable {
    package let changesets: Int
    /// Duration of the transaction that integrated them.
    package let seconds: Double
    /// The local version that holds them.
    package let localVersion: UInt64

    package init(changesets: Int, seconds: Double, localVersion: UInt64) {
        self.changesets = changesets
        self.seconds = seconds
        self.localVersion = localVersion
    }
}

package struct PluginPayload: Sendable, Equatable, Codable {
    package let plugin: String
    /// The kind of event that it handled (interfaces, 7).
    package let handled: String
    /// Nil if it gave none.
    package let decision: String?
    package let note: String?
    /// The reason why it counts as silent.
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

package struct UserPayload: Sendable, Equatable, Codable {
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

package struct ReloadPayload: Sendable, Equatable, Codable {
    package let applied: [String]
    package let needRestart: [String]

    package init(applied: [String], needRestart: [String]) {
        self.applied = applied
        self.needRestart = needRestart
    }
}
