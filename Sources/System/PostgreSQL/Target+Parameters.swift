extension Target {
    /// libpq's parameters for one host.
    ///
    /// Each one that has a variable or a file as its default is named. Files that must not count get
    /// a path that cannot exist, since libpq takes an empty value for none.
    ///
    /// - Parameter address: the resolved address of a network host.
    func parameters(
        for host: Host,
        at address: String?,
        password: String?
    ) -> [(keyword: String, value: String)] {
        let noFile = "/dev/null/none"
        var parameters: [(keyword: String, value: String)] = [
            ("dbname", database),
            ("user", user),
            ("target_session_attrs", "read-write"),
            ("application_name", applicationName),
            ("client_encoding", "UTF8"),
            ("options", options),
            ("gssencmode", "disable"),
            ("krbsrvname", "postgres"),
            ("channel_binding", "prefer"),
            ("passfile", noFile),
            ("connect_timeout", "0"),
            ("keepalives", "1"),
            ("keepalives_idle", "15"),
            ("keepalives_interval", "5"),
            ("keepalives_count", "3"),
            ("tcp_user_timeout", "30000"),
            ("sslcompression", "0"),
            ("sslsni", "1"),
            ("ssl_min_protocol_version", "TLSv1.2"),
            ("ssl_max_protocol_version", "TLSv1.3"),
            ("sslcert", clientCertificate?.certificateFile ?? noFile),
            ("sslkey", clientCertificate?.keyFile ?? noFile),
            ("sslcrl", noFile),
            ("sslcrldir", noFile),
            ("replication", "false"),
        ]
        switch tls {
        case .off:
            parameters += [("sslmode", "disable"), ("sslrootcert", noFile)]
        case .verifyAuthority(let file):
            parameters += [("sslmode", "verify-ca"), ("sslrootcert", file)]
        case .verifyFull(let file):
            parameters += [("sslmode", "verify-full"), ("sslrootcert", file)]
        }
        switch host {
        case .socket(let directory, let port):
            // libpq ignores the mode here: Unix sockets have no TLS.
            parameters += [("host", directory), ("port", "\(port)")]
        case .network(let name, let port):
            parameters += [("host", name), ("port", "\(port)"), ("hostaddr", address ?? name)]
        }
        if let password { parameters.append(("password", password)) }
        return parameters
    }

    /// The start-up options of the session (server on PostgreSQL, 3).
    private var options: String {
        var settings = [
            ("plan_cache_mode", "force_generic_plan"),
            ("jit", "off"),
            // Generic plans outlive the moment: one made while a table was empty must not read it whole.
            ("enable_seqscan", "off"),
            ("lock_timeout", Self.milliseconds(limits.lock)),
            ("statement_timeout", Self.milliseconds(limits.statement)),
            ("idle_in_transaction_session_timeout", Self.milliseconds(limits.idleInTransaction)),
            ("client_connection_check_interval", "10s"),
            ("tcp_keepalives_idle", "15"),
            ("tcp_keepalives_interval", "5"),
            ("tcp_keepalives_count", "3"),
            ("tcp_user_timeout", "30s"),
        ]
        if let schema {
            // Temporary tables would be looked for first if they were not named.
            settings.append(("search_path", "\(Self.quoted(schema)), pg_temp"))
        }
        return settings.map { "-c \($0)=\(Self.escaped($1))" }.joined(separator: " ")
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1000)
        let total = overflows ? Int64.max : product + attoseconds / 1_000_000_000_000_000
        return "\(min(max(total, 0), Int64(Int32.max)))ms"
    }

    /// The server splits the options at blanks, and takes a character behind a backslash as it is.
    private static func escaped(_ value: String) -> String {
        var result = ""
        for character in value.unicodeScalars {
            if character == " " || character == "\\" { result += "\\" }
            result.unicodeScalars.append(character)
        }
        return result
    }

    /// The identifier in double quotes, quotes inside doubled.
    package static func quoted(_ identifier: String) -> String {
        "\"\(identifier.replacing("\"", with: "\"\""))\""
    }
}
