internal import CPostgres
internal import Glibc

/// Makes a connection: hosts in order, and the addresses of each.
///
/// libpq could try several hosts as well, but without blocking it has no limit of time for one of them.
struct ConnectionOpening {
    let target: Target
    let interruption: Interruption

    /// The oldest version that has the start-up options in use.
    private static let oldestVersion = 140_000

    func open(until deadline: Deadline) throws(PostgreSQLError) -> OpaquePointer {
        try checkTarget()
        var failure = PostgreSQLError(.misuse, "the target has no host")
        for (index, host) in target.hosts.enumerated() {
            do {
                let share = deadline.share(among: target.hosts.count - index)
                return try open(host, password: try readPassword(for: host), until: share)
            } catch {
                guard isWorthAnotherHost(error) else { throw error }
                failure = error
            }
        }
        throw failure
    }

    private func isWorthAnotherHost(_ error: PostgreSQLError) -> Bool {
        switch error.cause {
        case .interrupted, .unavailable, .misuse: false
        // Wrong users, passwords and databases are wrong everywhere.
        case .server(let state): !state.hasPrefix("28") && state != "3D000"
        case .unreachable, .timedOut, .malformed, .tooLarge: true
        }
    }

    private func open(
        _ host: Target.Host,
        password: String?,
        until deadline: Deadline
    ) throws(PostgreSQLError) -> OpaquePointer {
        guard case .network(let name, _) = host else {
            return try open(host, at: nil, password: password, until: deadline)
        }
        let addresses = try NameLookup.addresses(of: name, until: deadline, unless: interruption)
        var failure = PostgreSQLError(.unreachable, "\(host): the name has no address")
        for (index, address) in addresses.enumerated() {
            do {
                let share = deadline.share(among: addresses.count - index)
                return try open(host, at: address, password: password, until: share)
            } catch {
                guard isWorthAnotherHost(error) else { throw error }
                failure = error
            }
        }
        throw failure
    }

    private func open(
        _ host: Target.Host,
        at address: String?,
        password: String?,
        until deadline: Deadline
    ) throws(PostgreSQLError) -> OpaquePointer {
        let parameters = target.parameters(for: host, at: address, password: password)
        LibraryEnvironment.removeVariables(besides: Set(parameters.map(\.keyword) + ["password"]))
        guard let handle = Self.start(parameters) else {
            throw PostgreSQLError(.unavailable, "no memory for a connection")
        }
        do throws(PostgreSQLError) {
            try finish(handle, host, until: deadline)
            return handle
        } catch {
            PQfinish(handle)
            throw error
        }
    }

    private static func start(
        _ parameters: [(keyword: String, value: String)]
    ) -> OpaquePointer? {
        let keywords = parameters.map { strdup($0.keyword) } + [nil]
        let values = parameters.map { strdup($0.value) } + [nil]
        defer {
            for text in keywords + values { free(text) }
        }
        return PQconnectStartParams(
            keywords.map { UnsafePointer($0) },
            values.map { UnsafePointer($0) },
            0
        )
    }

    private func finish(
        _ handle: OpaquePointer,
        _ host: Target.Host,
        until deadline: Deadline
    ) throws(PostgreSQLError) {
        // Verbose reports have the SQLSTATE, which a failed connection has nowhere else.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        var status =
            PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            guard status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING else {
                throw ServerText.connectionError(
                    String(cString: PQerrorMessage(handle)),
                    of: "\(host)"
                )
            }
            let socket = PQsocket(handle)
            guard socket >= 0 else {
                throw PostgreSQLError(.unreachable, "\(host): the connection has no socket")
            }
            _ = try Waiting.wait(
                for: status == PGRES_POLLING_READING ? POLLIN : POLLOUT,
                on: socket,
                until: deadline,
                unless: interruption
            )
            status = PQconnectPoll(handle)
        }
        guard PQsetnonblocking(handle, 1) == 0 else { throw Connection.lost(handle) }
        PQsetErrorVerbosity(handle, PQERRORS_TERSE)
        let version = Int(PQserverVersion(handle))
        guard version >= Self.oldestVersion else {
            throw PostgreSQLError(
                .unavailable,
                "\(host): the server has version \(version / 10_000); 14 is the oldest that works",
                connectionIsLost: true
            )
        }
    }

    // MARK: Checks

    private func readPassword(for host: Target.Host) throws(PostgreSQLError) -> String? {
        do throws(PasswordUnavailable) {
            let password = try target.password?(host)
            guard password?.utf8.contains(0) != true else {
                throw PasswordUnavailable(reason: "it contains U+0000")
            }
            return password
        } catch {
            throw PostgreSQLError(.unavailable, "the password cannot be read: \(error.reason)")
        }
    }

    /// libpq gets strings that end with a zero byte, and ignores a client certificate that is missing.
    private func checkTarget() throws(PostgreSQLError) {
        let texts =
            [target.database, target.user, target.applicationName, target.schema ?? ""]
            + files + target.hosts.map(\.description)
        guard !texts.contains(where: { $0.utf8.contains(0) }) else {
            throw PostgreSQLError(.misuse, "a name of the target contains U+0000")
        }
        guard !target.database.isEmpty, !target.user.isEmpty else {
            throw PostgreSQLError(.misuse, "the target names no database or no user")
        }
        for file in files where access(file, R_OK) != 0 {
            throw PostgreSQLError(.unavailable, "\(file) cannot be read (\(errno))")
        }
    }

    private var files: [String] {
        var files: [String] = []
        switch target.tls {
        case .off: break
        case .verifyAuthority(let file), .verifyFull(let file): files.append(file)
        }
        if let certificate = target.clientCertificate {
            files += [certificate.certificateFile, certificate.keyFile]
        }
        return files
    }
}
