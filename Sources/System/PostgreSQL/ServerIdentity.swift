/// Tells a server from another one and from itself after a failover or a restart (server on
/// PostgreSQL, 6.4 and 7).
package struct ServerIdentity: Hashable, Sendable {
    /// Chosen at `initdb`; replicas and restored copies have the same.
    package let system: Int64
    /// One more after each promotion of a replica.
    package let timeline: Int64
    /// In microseconds since 2000.
    package let startedAt: Int64

    package init(system: Int64, timeline: Int64, startedAt: Int64) {
        self.system = system
        self.timeline = timeline
        self.startedAt = startedAt
    }

    /// Whether no promotion lies between the two; a restart may.
    package func hasSameHistory(as other: ServerIdentity) -> Bool {
        system == other.system && timeline == other.timeline
    }

    /// The query of the identity, for the first pipeline of a connection.
    ///
    /// The timeline is that of the log that is written: the control file has the old one until the
    /// first checkpoint after a promotion.
    package static let step = Step(
        """
        SELECT system_identifier::int8,
               ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int8,
               (extract(epoch FROM pg_postmaster_start_time() - timestamptz '2000-01-01 00:00Z')
                   * 1000000)::int8
        FROM pg_control_system()
        """
    )

    /// Reads the row of that query.
    package init(_ rows: Rows) throws(PostgreSQLError) {
        self.init(
            system: try rows.integer(0, 0),
            timeline: try rows.integer(0, 1),
            startedAt: try rows.integer(0, 2)
        )
    }
}

extension Connection {
    /// The identity of the server; the first call takes a round trip.
    package func identity() throws(PostgreSQLError) -> ServerIdentity {
        if let knownIdentity { return knownIdentity }
        let rows = try pipeline([ServerIdentity.step])
        guard let rows = rows.first else { throw .malformed("the server has no identity") }
        let identity = try ServerIdentity(rows)
        knownIdentity = identity
        return identity
    }
}
