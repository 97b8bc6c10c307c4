package import Settings

/// The PostgreSQL database that holds a store, and how to connect to it (server on PostgreSQL, 8).
///
/// It names where the password is, never the password itself.
package struct PostgreSQLLocation: Hashable, Sendable {
    /// Tried in order, until one is writable.
    package var hosts: [Host]
    package var database: String
    package var user: String
    /// Read again for each connection; nil: the server must not ask for one.
    package var password: Password?
    package var tls: TLSMode
    /// The file of the authorities that may have signed the server's certificate.
    package var authorities: String
    package var clientCertificate: CertificateFiles?
    /// The schema that holds the store's tables.
    package var schema: String
    /// The largest number of connections for the store's work; the process opens a few more.
    package var pool: Int

    package static let standardAuthorities = "/etc/ssl/certs/ca-certificates.crt"
    package static let standardSchema = "realm"
    package static let standardPool = 8

    package init(
        hosts: [Host],
        database: String,
        user: String,
        password: Password? = nil,
        tls: TLSMode? = nil,
        authorities: String = Self.standardAuthorities,
        clientCertificate: CertificateFiles? = nil,
        schema: String = Self.standardSchema,
        pool: Int = Self.standardPool
    ) {
        self.hosts = hosts
        self.database = database
        self.user = user
        self.password = password
        self.tls = tls ?? Self.standardTLS(of: hosts)
        self.authorities = authorities
        self.clientCertificate = clientCertificate
        self.schema = schema
        self.pool = pool
    }

    package enum Host: Hashable, Sendable {
        /// The directory of a Unix socket.
        case socket(directory: String, port: UInt16)
        /// A host name or an address, without brackets.
        case network(name: String, port: UInt16)
    }

    package enum Password: Hashable, Sendable {
        case secret(SecretReference)
        /// A file of PostgreSQL's form: `host:port:database:user:password` in each line.
        case passfile(path: String)
    }

    package enum TLSMode: String, Hashable, Sendable, CaseIterable {
        /// The certificate must come from a known authority, and be the host's.
        case verifyFull = "verify-full"
        /// The certificate must come from a known authority.
        case verifyAuthority = "verify-ca"
        case off
    }

    /// Sockets in the file system have no TLS; a network has it unless it is turned off.
    static func standardTLS(of hosts: [Host]) -> TLSMode {
        hosts.contains { $0.isNetwork } ? .verifyFull : .off
    }
}

extension PostgreSQLLocation: CustomStringConvertible {
    /// As a URL, for logs and reports.
    package var description: String {
        let hosts = hosts.map(\.description).joined(separator: ",")
        return "postgresql://\(user)@\(hosts)/\(database)"
            + (schema == Self.standardSchema ? "" : "?schema=\(schema)")
    }
}

extension PostgreSQLLocation.Host {
    package static let standardPort: UInt16 = 5432

    /// Reads `/run/postgresql`, `db1`, `db1:5432`, `192.0.2.1` or `[fd00::1]:5432`; nil for other
    /// texts.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        guard !text.utf8.contains(0) else { return nil }
        guard text.hasPrefix("/") else {
            let hasPort = ListenAddress(text) != nil && !text.hasSuffix("]")
            guard let address = ListenAddress(hasPort ? text : "\(text):\(Self.standardPort)"),
                let port = UInt16(exactly: address.port), port > 0
            else { return nil }
            self = .network(name: address.host, port: port)
            return
        }
        guard let colon = text.lastIndex(of: ":") else {
            self = .socket(directory: text, port: Self.standardPort)
            return
        }
        guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else { return nil }
        self = .socket(directory: String(text[..<colon]), port: port)
    }

    package var isNetwork: Bool {
        if case .network = self { true } else { false }
    }

    /// Whether what is sent can be read outside this machine.
    package var isRemote: Bool {
        switch self {
        case .socket: false
        case .network(let name, _): name != "localhost" && name != "::1" && !name.hasPrefix("127.")
        }
    }
}

extension PostgreSQLLocation.Host: CustomStringConvertible {
    package var description: String {
        switch self {
        case .socket(let directory, Self.standardPort): directory
        case .socket(let directory, let port): "\(directory):\(port)"
        case .network(let name, let port):
            ListenAddress(host: name, port: Int(port)).description
        }
    }
}
