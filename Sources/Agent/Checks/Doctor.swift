import AppServices
import Changesets
package import Config
import Control
import Glibc
import LocalRealm
import Outbound
import Platform
import RealmSync
import SQLite
package import Scheduling
import Subscriptions

/// Checks the agent's environment: directories, network, server, accounts and realm files.
///
/// It changes nothing, works with and without a running agent, and reports what it may not read.
package struct Doctor: Sendable {
    private let configuration: AgentConfiguration
    let now: @Sendable () -> WallTime

    package init(
        _ configuration: AgentConfiguration,
        now: @escaping @Sendable () -> WallTime = WallTime.now
    ) {
        self.configuration = configuration
        self.now = now
    }

    package func examine() async -> [Finding] {
        var findings = directory() + [Self.clock(now())] + (await agent())
        for app in configuration.apps { findings += await server(of: app) }
        for user in configuration.users { findings += account(of: user) }
        for realm in await configuration.located().realms where realm.isEnabled {
            findings += file(of: realm)
        }
        return findings
    }
}

// MARK: This machine

extension Doctor {
    private func directory() -> [Finding] {
        let path = configuration.daemon.dataDirectory
        guard access(path, F_OK) == 0 else {
            return [
                .warning(
                    "directory",
                    path,
                    "does not exist",
                    remedy: "start the agent, which creates it"
                )
            ]
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            return [
                .problem(
                    "permissions",
                    path,
                    "this user may not read and write it",
                    remedy: "run doctor as the agent's user or as root, or correct the owner"
                )
            ]
        }
        return [
            .good("permissions", path, "readable and writable"), Self.space(at: path),
            Self.encryption(at: path, DiskEncryption(of: path)),
        ]
    }

    /// Never worse than good: whether an unencrypted disk is a risk, its owner knows.
    static func encryption(at path: String, _ found: DiskEncryption?) -> Finding {
        let message =
            switch found {
            case .fileSystem: "encrypted by its file system"
            case .device: "on an encrypted device"
            case .some(.none), nil:
                "not encrypted, as far as this system knows; `man realm-encryption-at-rest` tells how"
            }
        return .good("encryption", path, message)
    }

    private static func space(at path: String) -> Finding {
        var statistics = statvfs()
        guard statvfs(path, &statistics) == 0 else {
            return .warning(
                "disk",
                path,
                String(cString: strerror(errno)),
                remedy: "check the file system"
            )
        }
        let free = UInt64(statistics.f_bavail) * UInt64(statistics.f_frsize)
        return space(at: path, freeInBytes: free)
    }

    /// A realm is written twice, to its log and to the file: the free space must hold some of both.
    static func space(at path: String, freeInBytes free: UInt64) -> Finding {
        let message = "\(free >> 20) MiB are free"
        return switch free {
        case ..<(16 << 20):
            .problem("disk", path, message, remedy: "free space; sync stops when the disk is full")
        case ..<(256 << 20): .warning("disk", path, message, remedy: "free disk space")
        default: .good("disk", path, message)
        }
    }

    private func agent() async -> [Finding] {
        let socket = configuration.daemon.controlSocket
        do throws(ControlError) {
            let report = try await ControlClient(socketPath: socket).status()
            return [.good("agent", socket, "version \(report.version) runs as \(report.pid)")]
                + report.realms.map(Self.state)
        } catch {
            return [
                .warning(
                    "agent",
                    socket,
                    error.message,
                    remedy: error.remedy ?? "see the agent's log"
                )
            ]
        }
    }

    /// A realm's state in the running agent, in the words of `status`.
    static func state(of realm: RealmStatus) -> Finding {
        let cause = realm.cause.map { " (\($0))" } ?? ""
        let detail = realm.detail.map { ": \($0)" } ?? ""
        let message = "\(realm.state.rawValue)\(cause)\(detail)"
        switch realm.state {
        case .connecting where realm.cause == nil: fallthrough
        case .open, .progress, .disabled, .paused, .resetting:
            return .good("realm", realm.name, message)
        case .suspended where ["by-user", "by-plugin"].contains(realm.cause):
            return .warning(
                "realm",
                realm.name,
                message,
                remedy: "`realm-agent resume \(realm.name)` when it may sync again"
            )
        case .suspended, .offline, .waitingForUser, .connecting:
            return .warning(
                "realm",
                realm.name,
                message,
                remedy: realm.remedy ?? "nothing, the agent tries again"
            )
        case .failed, .loginRequired, .needsReset:
            return .problem(
                "realm",
                realm.name,
                message,
                remedy: realm.remedy ?? "see `man realm-errors`"
            )
        }
    }
}

// MARK: The server

extension Doctor {
    func server(of app: AppConfiguration) async -> [Finding] {
        let access: ServerAccess
        do throws(UnusableSetting) {
            access = try ServerAccess(to: app, userAgent: "realm-agent-doctor")
        } catch {
            let isSecret = error.code == "config.secret_unreadable"
            return [
                isSecret
                    ? .warning(
                        "server",
                        app.name,
                        "not asked: \(error.path): \(error.problem)",
                        remedy: "run doctor where the agent's credentials are"
                    )
                    : .problem(
                        "tls",
                        app.name,
                        "\(error.path): \(error.problem)",
                        remedy: error.remedy
                    )
            ]
        }
        let name = name(of: app, access)
        guard name?.verdict != .problem else { return [name].compactMap { $0 } }
        let exchange = AsyncHTTPExchange(
            tls: access.tls,
            proxies: access.proxies,
            headers: access.headers
        )
        let url = "\(app.baseURL)/api/client/v2.0/app/\(app.appID)/location"
        var found: [Finding]
        do throws(UnreachableError) {
            let reply = try await exchange.perform(
                ServiceRequest(method: .get, url: url),
                timeout: .seconds(10)
            )
            found = [
                reply.status == 200
                    ? .good("server", app.name, "\(app.baseURL) knows the app")
                    : .problem(
                        "server",
                        app.name,
                        "\(app.baseURL) answers with status \(reply.status)",
                        remedy: "correct apps.\(app.name).app_id, or ask the server's operator"
                    )
            ]
            found += [Self.clock(of: app.name, date: reply.date, now: now())].compactMap { $0 }
        } catch {
            found = [Self.unreached(app, error)]
        }
        await exchange.shutdown()
        found += await certificate(of: app)
        return [name].compactMap { $0 } + found
    }

    /// A certificate that is not accepted has the remedy that `status` gives.
    private static func unreached(_ app: AppConfiguration, _ error: UnreachableError) -> Finding {
        let remedy = ErrorCatalogue.remedy(for: "connection.tls_failed", realm: nil, user: nil)
        if error.kind == .tls, let remedy {
            return .problem("tls", app.name, error.reason, remedy: remedy)
        }
        return .problem(
            "server",
            app.name,
            error.reason,
            remedy: "check the network, and that the server runs"
        )
    }

    /// Whether the server's name is known; nil where a proxy looks it up.
    private func name(of app: AppConfiguration, _ access: ServerAccess) -> Finding? {
        let host = app.baseURL.host
        if let target = ProxyTarget(url: app.baseURL.description),
            let proxy = try? access.proxies.proxy(to: target)
        {
            return .good("proxy", app.name, "\(proxy) leads to \(host)")
        }
        return Self.resolves(host)
            ? .good("dns", app.name, "\(host) has an address")
            : .problem(
                "dns",
                app.name,
                "cannot resolve \(host)",
                remedy: "correct apps.\(app.name).base_url, or the machine's DNS"
            )
    }

    private static func resolves(_ host: String) -> Bool {
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        var addresses: UnsafeMutablePointer<addrinfo>?
        defer { if let addresses { freeaddrinfo(addresses) } }
        return getaddrinfo(name, nil, nil, &addresses) == 0
    }
}

// MARK: Accounts and files

extension Doctor {
    private func account(of user: UserConfiguration) -> [Finding] {
        let path = configuration.metadataFile
        guard access(path, F_OK) == 0 else {
            return [
                .warning("token", user.name, "never logged in here", remedy: "start the agent")
            ]
        }
        do throws(SQLiteError) {
            let account = try configuration.storedAccount(of: user)
            let token = Self.token(of: user.name, account, now: now())
            return [token] + [Self.otherProvider(of: user, account)].compactMap(\.self)
        } catch {
            return [
                .warning(
                    "token",
                    user.name,
                    "\(path) cannot be read: \(error.message)",
                    remedy: "run doctor as the agent's user or as root, and see the agent's log"
                )
            ]
        }
    }

    static func token(of user: String, _ account: Account?, now: WallTime) -> Finding {
        guard let account else {
            return .warning(
                "token",
                user,
                "is not logged in",
                remedy: "start the agent, and see why with `realm-agent status`"
            )
        }
        let seconds = now.millisecondsSince1970 / 1000
        let end = WallTime(secondsSince1970: account.refreshToken.expiresAt)
        guard !account.refreshToken.isExpired(at: seconds) else {
            return .warning(
                "token",
                user,
                "the session ended at \(end)",
                remedy: "the agent logs in again if the credential still holds"
            )
        }
        return .good("token", user, "logged in until \(end)")
    }

    private func file(of realm: RealmConfiguration) -> [Finding] {
        guard access(realm.path, F_OK) == 0 else {
            return [
                .warning(
                    "file",
                    realm.name,
                    "\(realm.path) does not exist",
                    remedy: "start the agent, which creates it once the user is logged in; "
                        + "`realm-agent status` says what prevents that"
                )
            ]
        }
        do throws(LocalRealmError) {
            return Self.findings(realm.name, try RealmExamination.read(path: realm.path))
                + Self.findings(
                    realm.name,
                    withoutObjects: try SubscriptionExamination.subscriptionsWithoutObjects(
                        path: realm.path
                    )
                )
        } catch {
            return [
                .problem(
                    "file",
                    realm.name,
                    "\(error.message) [\(error.code)]",
                    remedy: ErrorCatalogue.remedy(
                        for: error.code,
                        realm: realm.name,
                        user: realm.user.name
                    ) ?? "see `man realm-errors`"
                )
            ]
        }
    }

    static func findings(_ realm: String, withoutObjects: [Subscription]) -> [Finding] {
        withoutObjects.map { subscription in
            let name =
                DeclaredSubscriptions.declaredName(of: subscription).map { " \"\($0)\"" } ?? ""
            return .warning(
                "subscription",
                realm,
                "the subscription\(name) to \(subscription.className) where "
                    + "\(subscription.query.description.prefix(200)) selects no object",
                remedy: "correct the query, or ask the server's operator what this user may read"
            )
        }
    }

    static func findings(_ realm: String, _ file: RealmExamination) -> [Finding] {
        var findings: [Finding] = []
        if file.alterations.isEmpty {
            findings.append(.good("triggers", realm, "present and current"))
        }
        for alteration in file.alterations {
            findings.append(
                .problem(
                    "triggers",
                    realm,
                    alteration,
                    remedy: "restart the agent to recreate triggers and indexes "
                        + "(writes without them are not uploaded)"
                )
            )
        }
        for index in file.uniqueIndexes {
            findings.append(
                .problem("index", realm, index, remedy: "drop it; use an ordinary index")
            )
        }
        if file.journalMode != "wal" {
            findings.append(
                .problem(
                    "wal",
                    realm,
                    "the journal mode is \(file.journalMode)",
                    remedy: "restart the agent, and find the program that changes it"
                )
            )
        } else if file.logSizeInBytes > 256 << 20 {
            findings.append(
                .warning(
                    "wal",
                    realm,
                    "the write-ahead log has \(file.logSizeInBytes >> 20) MiB",
                    remedy: "look for a program that keeps a read transaction open"
                )
            )
        } else {
            findings.append(.good("wal", realm, "\(file.logSizeInBytes >> 10) KiB of log"))
        }
        return findings
    }
}
