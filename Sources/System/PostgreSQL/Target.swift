/// The database to connect to, and how (server on PostgreSQL, 8).
///
/// Only what it says counts: `PG*` variables, service files, password files and certificates in the
/// home directory do not.
package struct Target: Sendable {
    /// Tried in order, until one is writable.
    package var hosts: [Host]
    package var database: String
    package var user: String
    /// Read for each host of each connection; nil: the server must not ask for one.
    package var password: Password?
    package var tls: TLS
    package var clientCertificate: ClientCertificate?
    /// Shown in `pg_stat_activity`.
    package var applicationName: String
    /// The schema that unqualified names of statements mean; nil is the server's default.
    package var schema: String?
    package var limits: Limits

    package init(
        hosts: [Host],
        database: String,
        user: String,
        password: Password? = nil,
        tls: TLS = .off,
        clientCertificate: ClientCertificate? = nil,
        applicationName: String = "realm-server",
        schema: String? = nil,
        limits: Limits = Limits()
    ) {
        self.hosts = hosts
        self.database = database
        self.user = user
        self.password = password
        self.tls = tls
        self.clientCertificate = clientCertificate
        self.applicationName = applicationName
        self.schema = schema
        self.limits = limits
    }

    /// Reads the password for a host; nil if there is none for it.
    package typealias Password = @Sendable (Host) throws(PasswordUnavailable) -> String?

    package enum Host: Hashable, Sendable {
        /// The directory of a Unix socket.
        case socket(directory: String, port: UInt16 = 5432)
        /// A host name or an address.
        case network(name: String, port: UInt16 = 5432)
    }

    /// TLS 1.2 or newer; sockets in the file system have none.
    package enum TLS: Hashable, Sendable {
        /// The server is not verified, and what is sent can be read on the way.
        case off
        /// The server's certificate must come from one of these authorities.
        case verifyAuthority(file: String)
        /// The certificate must be the host's, too.
        case verifyFull(file: String)
    }

    package struct ClientCertificate: Hashable, Sendable {
        package var certificateFile: String
        /// Readable by this user, or by root's group, and no other.
        package var keyFile: String

        package init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// Limits that the server keeps (server on PostgreSQL, 3), and one of our own.
    package struct Limits: Hashable, Sendable {
        package var lock: Duration = .seconds(5)
        package var statement: Duration = .seconds(30)
        package var idleInTransaction: Duration = .seconds(60)
        /// The longest wait for the results of a pipeline, a script or a COPY.
        package var response: Duration = .seconds(40)

        package init() {}
    }
}

/// The reason why a password cannot be read, without the password.
package struct PasswordUnavailable: Error, Hashable, Sendable {
    package let reason: String

    package init(reason: String) {
        self.reason = reason
    }
}

extension Target.Host: CustomStringConvertible {
    /// `db1:5432`, or the path of the socket.
    package var description: String {
        switch self {
        case .socket(let directory, let port): "\(directory)/.s.PGSQL.\(port)"
        case .network(let name, let port):
            name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
        }
    }
}
