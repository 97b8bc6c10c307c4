package import ClientReset

/// An event of a realm, as passed to handlers (interfaces, 7).
package enum HandlerEvent: Hashable, Sendable {
    case error(SyncErrorReport)
    /// A client reset is about to begin; the file is unchanged.
    case clientResetBefore(reason: String, mode: ResetMode)
    /// A client reset has been carried out; the session returns once handlers have answered.
    case clientResetAfter(FinishedReset)
    /// A client reset that the agent cannot carry out on its own.
    case clientResetManual(ManualReset)
    /// The server refused writes, and undid them.
    case writeRejected([RejectedWriteSummary])
    /// The server refused a set of subscriptions; the realm keeps the view of the one before.
    case subscriptionsRejected(RejectedSubscriptionsSummary)

    package var kind: String {
        switch self {
        case .error: "error"
        case .clientResetBefore: "client_reset_before"
        case .clientResetAfter: "client_reset_after"
        case .clientResetManual: "client_reset_manual"
        case .writeRejected: "write_rejected"
        case .subscriptionsRejected: "subscriptions_rejected"
        }
    }
}

/// An error that concerns one realm or its user.
package struct SyncErrorReport: Hashable, Sendable {
    /// A word with dots, as in `docs/errors.md`.
    package let code: String
    /// The number that the Realm SDKs give this error, if they know it.
    package let sdkCode: Int?
    package let message: String
    /// Whether sync of the realm stops until an operator or program acts.
    package let isFatal: Bool
    /// URL of the server's log of the error.
    package let logURL: String?

    package init(
        code: String,
        sdkCode: Int? = nil,
        message: String,
        isFatal: Bool,
        logURL: String? = nil
    ) {
        self.code = code
        self.sdkCode = sdkCode
        self.message = message
        self.isFatal = isFatal
        self.logURL = logURL
    }
}

/// One write that the server refused.
package struct RejectedWriteSummary: Hashable, Sendable {
    package let className: String
    /// The primary key as Extended JSON.
    package let key: String
    package let reason: String

    package init(className: String, key: String, reason: String) {
        self.className = className
        self.key = key
        self.reason = reason
    }
}

/// A set of subscriptions that the server refused.
package struct RejectedSubscriptionsSummary: Hashable, Sendable {
    /// The number of the set.
    package let version: Int64
    /// The server's text.
    package let message: String
    /// The subscriptions that the text is about, as far as it tells.
    package let subscriptions: [Entry]

    package struct Entry: Hashable, Sendable {
        package let name: String?
        package let className: String
        package let query: String

        package init(name: String?, className: String, query: String) {
            self.name = name
            self.className = className
            self.query = query
        }
    }

    package init(version: Int64, message: String, subscriptions: [Entry]) {
        self.version = version
        self.message = message
        self.subscriptions = subscriptions
    }
}
