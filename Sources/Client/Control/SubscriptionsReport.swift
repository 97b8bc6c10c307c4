/// The response to `GET /v1/realms/R/subscriptions`.
package struct SubscriptionsReport: Codable, Sendable, Equatable {
    package let realm: String
    /// The set whose objects the file holds.
    package let active: SubscriptionSetReport
    /// The newest set, if it is not the active one.
    package let pending: SubscriptionSetReport?
    /// The next event that the pending set needs: `connection`, `uploads` or `bootstrap`.
    package let waitingFor: String?
    /// The share of the bootstrap that has come, from 0 to 1, if the server tells.
    package let estimate: Double?

    package init(
        realm: String,
        active: SubscriptionSetReport,
        pending: SubscriptionSetReport?,
        waitingFor: String?,
        estimate: Double?
    ) {
        self.realm = realm
        self.active = active
        self.pending = pending
        self.waitingFor = waitingFor
        self.estimate = estimate
    }
}

/// The subscriptions of one query version.
package struct SubscriptionSetReport: Codable, Sendable, Equatable {
    package let version: Int64
    /// `pending`, `bootstrapping`, `awaiting-mark`, `complete` or `error`.
    package let state: String
    /// The server's text, if it rejected the set.
    package let error: String?
    package let subscriptions: [SubscriptionReport]

    package init(
        version: Int64,
        state: String,
        error: String?,
        subscriptions: [SubscriptionReport]
    ) {
        self.version = version
        self.state = state
        self.error = error
        self.subscriptions = subscriptions
    }
}

package struct SubscriptionReport: Codable, Sendable, Equatable {
    package let id: String
    package let name: String?
    package let className: String
    package let query: String
    /// Declared in the configuration, rather than added by a user or a program.
    package let declared: Bool
    /// The server rejects it, as far as its text tells.
    package let rejected: Bool
    /// ISO 8601, UTC.
    package let createdAt: String
    package let updatedAt: String

    package init(
        id: String,
        name: String?,
        className: String,
        query: String,
        declared: Bool,
        rejected: Bool,
        createdAt: String,
        updatedAt: String
    ) {
        self.id = id
        self.name = name
        self.className = className
        self.query = query
        self.declared = declared
        self.rejected = rejected
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, query, declared, rejected, createdAt, updatedAt
        case className = "class"
    }
}

/// The body of `PUT /v1/realms/R/subscriptions`: all operations together make one new set.
package struct SubscriptionsRequest: Codable, Sendable, Equatable {
    package struct Operation: Codable, Sendable, Equatable {
        package enum Kind: String, Codable, Sendable {
            /// Fails if the name exists.
            case add
            /// Replaces the subscription of the name.
            case put
            /// Gives a subscription another query.
            case update
            case remove
        }

        package var op: Kind
        package var name: String?
        package var className: String?
        package var query: String?
        package var id: String?
        /// With `remove`: all unnamed ones, or all.
        package var unnamed: Bool?
        package var all: Bool?

        package init(
            _ op: Kind,
            name: String? = nil,
            className: String? = nil,
            query: String? = nil,
            id: String? = nil,
            unnamed: Bool? = nil,
            all: Bool? = nil
        ) {
            self.op = op
            self.name = name
            self.className = className
            self.query = query
            self.id = id
            self.unnamed = unnamed
            self.all = all
        }

        private enum CodingKeys: String, CodingKey {
            case op, name, query, id, unnamed, all
            case className = "class"
        }
    }

    package var operations: [Operation]
    /// Commits also an unchanged set, which makes the server send its objects again.
    package var force: Bool?
    /// Waits for the set's end, at most for `timeoutInSeconds`.
    package var wait: Bool?
    package var timeoutInSeconds: Double?

    package init(
        operations: [Operation],
        force: Bool? = nil,
        wait: Bool? = nil,
        timeoutInSeconds: Double? = nil
    ) {
        self.operations = operations
        self.force = force
        self.wait = wait
        self.timeoutInSeconds = timeoutInSeconds
    }
}

/// The response to it.
package struct SubscriptionsChange: Codable, Sendable, Equatable {
    package enum Outcome: String, Codable, Sendable {
        /// Committed; the request did not wait.
        case committed
        /// The latest set had this content already.
        case unchanged
        case complete
        /// The server rejected the set.
        case rejected
        /// A newer set has taken its place.
        case superseded
        case timedOut = "timed-out"
        /// The wait ended for another reason.
        case ended
    }

    package let realm: String
    package let version: Int64
    package let outcome: Outcome
    /// A sentence for people.
    package let detail: String?
    /// The rejected subscriptions, as far as the server tells.
    package let rejected: [String]
    /// For each operation, how many subscriptions it added, replaced or removed.
    package let counts: [Int]

    package init(
        realm: String,
        version: Int64,
        outcome: Outcome,
        detail: String? = nil,
        rejected: [String] = [],
        counts: [Int]
    ) {
        self.realm = realm
        self.version = version
        self.outcome = outcome
        self.detail = detail
        self.rejected = rejected
        self.counts = counts
    }
}

/// An event about a subscription set.
package struct SubscriptionPayload: Sendable, Equatable, Codable {
    package let version: Int64
    /// As in ``SubscriptionSetReport``, or `superseded`.
    package let state: String
    /// The server's text, if it rejected the set.
    package let message: String?
    /// The rejected subscriptions, as far as the server tells.
    package let rejected: [String]?

    package init(version: Int64, state: String, message: String?, rejected: [String]?) {
        self.version = version
        self.state = state
        self.message = message
        self.rejected = rejected
    }
}
