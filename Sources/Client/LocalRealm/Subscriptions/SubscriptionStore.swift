internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas
internal import Subscriptions
internal import Versions

/// The tables `_realm_subscription_set` and `_realm_subscription` (flexible sync, 2).
struct SubscriptionStore {
    let connection: Connection

    /// Nil if the file has no sets.
    func load() throws -> SubscriptionSets? {
        var sets: [SubscriptionSet] = []
        let statement = try connection.prepare(
            "SELECT version, state, error, snapshot_version FROM _realm_subscription_set"
        )
        while try statement.step() {
            let version = try Self.number(statement, at: 0, "version")
            sets.append(
                SubscriptionSet(
                    version: QueryVersion(version),
                    state: try Self.state(statement),
                    snapshotVersion: ClientVersion(
                        try Self.number(statement, at: 3, "snapshot_version")
                    ),
                    subscriptions: try subscriptions(of: version)
                )
            )
        }
        return SubscriptionSets(stored: sets)
    }

    /// Writes what differs from the sets before.
    func save(_ sets: SubscriptionSets, replacing earlier: SubscriptionSets?) throws {
        let before = earlier?.sets ?? []
        for set in before where sets[set.version] == nil {
            try delete(set.version)
        }
        for set in sets.sets {
            guard let known = earlier?[set.version] else {
                try insert(set)
                continue
            }
            if known.state != set.state { try update(set) }
        }
    }

    // MARK: Reading

    private func subscriptions(of version: UInt64) throws -> [Subscription] {
        let statement = try connection.prepare(
            """
            SELECT id, created_at, updated_at, name, class, query FROM _realm_subscription
            WHERE set_version = ?1 ORDER BY position
            """
        )
        try statement.bind(Int64(clamping: version), at: 1)
        var subscriptions: [Subscription] = []
        while try statement.step() {
            guard let id = ObjectID(statement.text(at: 0)) else {
                throw Self.damage("_realm_subscription.id", statement.text(at: 0))
            }
            subscriptions.append(
                Subscription(
                    id: id,
                    createdAt: Self.milliseconds(statement.columnValue(at: 1)),
                    updatedAt: Self.milliseconds(statement.columnValue(at: 2)),
                    name: statement.storageClass(at: 3) == .null
                        ? nil : Text(bytes: statement.bytes(at: 3)),
                    className: Text(bytes: statement.bytes(at: 4)),
                    query: Text(bytes: statement.bytes(at: 5))
                )
            )
        }
        return subscriptions
    }

    /// Versions grow by one at a time, so that no file ever reaches the end.
    private static func number(
        _ statement: Statement,
        at column: Int,
        _ name: String
    ) throws -> UInt64 {
        let value = statement.integer(at: column)
        guard 0...Int64.max / 2 ~= value else {
            throw damage("_realm_subscription_set.\(name)", "\(value)")
        }
        return UInt64(value)
    }

    private static func state(_ statement: Statement) throws -> SubscriptionSetState {
        switch statement.integer(at: 1) {
        case 1: .pending
        case 2: .bootstrapping
        case 3: .complete
        case 4: .failed(statement.text(at: 2))
        case 6: .awaitingMark
        case let other: throw damage("_realm_subscription_set.state", "\(other)")
        }
    }

    private static func damage(_ column: String, _ value: String) -> RealmStateRow.DamagedColumn {
        RealmStateRow.DamagedColumn(column: column, value: value)
    }

    // MARK: Writing

    private func insert(_ set: SubscriptionSet) throws {
        let version = Int64(clamping: set.version.rawValue)
        try connection.run(
            """
            INSERT INTO _realm_subscription_set(version, state, snapshot_version, error)
            VALUES (?1, ?2, ?3, ?4)
            """,
            [
                .integer(version), .integer(set.state.code),
                .integer(Int64(clamping: set.snapshotVersion.rawValue)), set.state.error,
            ]
        )
        for (position, subscription) in set.subscriptions.enumerated() {
            let statement = try connection.statement(
                """
                INSERT INTO _realm_subscription(set_version, position, id, created_at, updated_at,
                  name, class, query) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                """
            )
            try statement.bind(version, at: 1)
            try statement.bind(Int64(position), at: 2)
            try statement.bind("\(subscription.id)", at: 3)
            try statement.bind(Self.text(subscription.createdAt), at: 4)
            try statement.bind(Self.text(subscription.updatedAt), at: 5)
            if let name = subscription.name {
                try statement.bind(text: name.bytes, at: 6)
            } else {
                try statement.bindNull(at: 6)
            }
            try statement.bind(text: subscription.className.bytes, at: 7)
            try statement.bind(text: subscription.query.bytes, at: 8)
            try statement.run()
        }
    }

    private func update(_ set: SubscriptionSet) throws(SQLiteError) {
        try connection.run(
            "UPDATE _realm_subscription_set SET state = ?1, error = ?2 WHERE version = ?3",
            [
                .integer(set.state.code), set.state.error,
                .integer(Int64(clamping: set.version.rawValue)),
            ]
        )
    }

    private func delete(_ version: QueryVersion) throws(SQLiteError) {
        let number = SQLiteValue.integer(Int64(clamping: version.rawValue))
        try connection.run("DELETE FROM _realm_subscription WHERE set_version = ?1", [number])
        try connection.run("DELETE FROM _realm_subscription_set WHERE version = ?1", [number])
    }

    // MARK: Times

    private static func text(_ milliseconds: Int64) -> ColumnValue {
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return Timestamp(seconds: seconds, nanoseconds: rest * 1_000_000)
            .map { ColumnForm.encode(.timestamp($0)) } ?? .text([])
    }

    /// 0 for a text that is not a time: nothing depends on it.
    private static func milliseconds(_ column: ColumnValue) -> Int64 {
        guard case .timestamp(let time)? = try? ColumnForm.decode(column, as: .timestamp) else {
            return 0
        }
        return time.seconds.multiplied(clamping: 1000)
            .adding(clamping: Int64(time.nanoseconds / 1_000_000))
    }
}

extension SubscriptionSetState {
    /// The stored code (flexible sync, 2.2).
    fileprivate var code: Int64 {
        switch self {
        case .pending: 1
        case .bootstrapping: 2
        case .complete: 3
        case .failed: 4
        case .awaitingMark: 6
        }
    }

    fileprivate var error: SQLiteValue {
        if case .failed(let text) = self { .text(text) } else { .null }
    }
}
