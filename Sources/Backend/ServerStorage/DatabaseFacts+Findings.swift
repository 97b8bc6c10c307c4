import PostgreSQLServerStore
import ServerCluster
import ServerConfig

extension DatabaseFacts {
    /// Connections of a process besides its pool: coordination, a job, a held state.
    static let connectionsBesidesPool: Int64 = 3

    func findings(_ location: PostgreSQLLocation) -> [DatabaseFinding] {
        [
            versionFinding, encodingFinding, layoutFinding(location), rightsFinding(location),
            connectionFinding(location), durabilityFinding, standbyFinding, tlsFinding(location),
            clockFinding, roleFinding,
        ].compactMap { $0 }
    }

    private var versionFinding: DatabaseFinding {
        DatabaseFinding(.good, "version", "PostgreSQL \(version / 10_000).\(version % 10_000)")
    }

    private var encodingFinding: DatabaseFinding {
        encoding == "UTF8"
            ? DatabaseFinding(.good, "encoding", "UTF8")
            : DatabaseFinding(
                .problem,
                "encoding",
                "the database has the encoding \(encoding)",
                remedy: "create it with ENCODING 'UTF8'"
            )
    }

    private func layoutFinding(_ location: PostgreSQLLocation) -> DatabaseFinding {
        switch layout {
        case .empty:
            DatabaseFinding(
                .good,
                "store",
                "schema \(location.schema) has no tables; the first start makes them"
            )
        case .found(let store):
            DatabaseFinding(.good, "store", "store \(store.storeID), layout \(store.version)")
        case .problem(let problem): DatabaseFinding(.problem, "store", problem.description)
        }
    }

    private func rightsFinding(_ location: PostgreSQLLocation) -> DatabaseFinding? {
        let (schema, user) = (location.schema, location.user)
        switch layout {
        case .empty where !mayCreate && schemaExists:
            return DatabaseFinding(
                .problem,
                "rights",
                "role \(user) may not make tables in schema \(schema)",
                remedy: "ALTER SCHEMA \(schema) OWNER TO \(user), or run the output of "
                    + "\"realm-server store sql\" as its owner"
            )
        case .empty where !mayCreate:
            return DatabaseFinding(
                .problem,
                "rights",
                "role \(user) may not make schema \(schema)",
                remedy: "CREATE SCHEMA \(schema) AUTHORIZATION \(user)"
            )
        case .empty: return DatabaseFinding(.good, "rights", "role \(user) may make the tables")
        case .found where tablesWithoutRights.isEmpty:
            return DatabaseFinding(.good, "rights", "role \(user) reads and writes all tables")
        case .found:
            return DatabaseFinding(
                .problem,
                "rights",
                "role \(user) may not read and write \(tablesWithoutRights.joined(separator: ", "))",
                remedy: "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) "
                    + "TO \(user)"
            )
        case .problem: return nil
        }
    }

    private func connectionFinding(_ location: PostgreSQLLocation) -> DatabaseFinding {
        let needed = Int64(location.pool) + Self.connectionsBesidesPool
        let free = connectionLimit - connectionsInUse
        let text =
            "a process needs up to \(needed) connections, \(free) of \(connectionLimit) are free"
        guard connectionLimit >= needed else {
            return DatabaseFinding(
                .problem,
                "connections",
                text,
                remedy: "raise max_connections, or lower pool"
            )
        }
        guard free >= needed else {
            return DatabaseFinding(
                .warning,
                "connections",
                text,
                remedy: "raise max_connections, or lower pool, unless this server's own processes "
                    + "use them"
            )
        }
        return DatabaseFinding(.good, "connections", text)
    }

    private var durabilityFinding: DatabaseFinding {
        guard fsync == "on" else {
            return DatabaseFinding(
                .problem,
                "durability",
                "fsync is \(fsync): a crash of the machine can destroy the database",
                remedy: "set fsync to on"
            )
        }
        guard synchronousCommit != "off" else {
            return DatabaseFinding(
                .warning,
                "durability",
                "synchronous_commit is off: a crash loses uploads that were acknowledged",
                remedy: "set it to on for this role"
            )
        }
        return DatabaseFinding(.good, "durability", "synchronous_commit is \(synchronousCommit)")
    }

    private var standbyFinding: DatabaseFinding {
        synchronousStandbys.isEmpty
            ? DatabaseFinding(
                .warning,
                "standbys",
                "no synchronous standby: a failover can lose uploads that were acknowledged, and "
                    + "clients that know of them start over",
                remedy: "set synchronous_standby_names, if the database fails over automatically"
            ) : DatabaseFinding(.good, "standbys", "synchronous: \(synchronousStandbys)")
    }

    private func tlsFinding(_ location: PostgreSQLLocation) -> DatabaseFinding {
        if let tlsVersion { return DatabaseFinding(.good, "tls", tlsVersion) }
        guard location.hosts.contains(where: \.isRemote) else {
            return DatabaseFinding(.good, "tls", "none, the database is on this machine")
        }
        return DatabaseFinding(
            .warning,
            "tls",
            "the connection can be read and changed on its way",
            remedy: "set server.storage.postgresql.tls to verify-full"
        )
    }

    private var clockFinding: DatabaseFinding {
        let text = "the database's clock differs by \(clockOffset) ms"
        guard clockOffset.magnitude > ProcessLimits.tolerableOffset else {
            return DatabaseFinding(.good, "clock", text)
        }
        return DatabaseFinding(
            clockOffset.magnitude > ProcessLimits.longestOffset ? .problem : .warning,
            "clock",
            text,
            remedy: "let NTP set the clocks of both machines"
        )
    }

    private var roleFinding: DatabaseFinding? {
        guard isSuperuser else { return nil }
        return DatabaseFinding(
            .warning,
            "role",
            "the role is a superuser",
            remedy: "create one that only owns its schema"
        )
    }
}
