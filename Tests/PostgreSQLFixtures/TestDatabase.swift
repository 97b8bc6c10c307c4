package import PostgreSQL

/// A database of a test's own, dropped with the value.
package final class TestDatabase: Sendable {
    package let server: PostgreSQLServer
    package let name: String

    /// - Parameters:
    ///   - server: nil is the server of the run.
    ///   - options: the end of `CREATE DATABASE`, as `ENCODING 'UTF8'`.
    package init(on server: PostgreSQLServer? = nil, options: String = "") throws {
        self.server = try server ?? PostgreSQLServer.shared()
        name = "test_\(UInt64.random(in: 0..<UInt64.max))"
        try administer("CREATE DATABASE \(name) \(options)")
    }

    deinit {
        try? administer("DROP DATABASE \(name) WITH (FORCE)")
    }

    package func target(_ host: Target.Host? = nil, user: String = "realm") -> Target {
        server.target(host, database: name, user: user)
    }

    /// A connection as the superuser, through the socket.
    package func connect() throws(PostgreSQLError) -> Connection {
        try Connection(target(), deadline: .after(.seconds(60)))
    }

    private func administer(_ sql: String) throws {
        let connection = try Connection(server.target(), deadline: .after(.seconds(60)))
        try connection.execute(sql, deadline: .after(.seconds(60)))
    }
}
