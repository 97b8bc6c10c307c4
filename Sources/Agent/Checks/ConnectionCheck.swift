import AppServices
package import Config
package import Control
import Glibc
import LocalRealm
import Platform
import Plugins
import RealmSync
import Scheduling
import Scopes
import SyncClient
import SyncProtocol
import Synchronization
import Transport

/// Tries everything that syncing needs of the network: names, certificates, log-in, and whether the
/// server lets each realm in.
///
/// It changes nothing: neither files, nor accounts, nor the server's records of clients.
package struct ConnectionCheck: Sendable {
    private let configuration: AgentConfiguration
    private let version: String
    /// Limit for one realm; a server that is silent for longer counts as unreachable.
    private static let timeout = Duration.seconds(30)

    package init(_ configuration: AgentConfiguration, version: String) {
        self.configuration = configuration
        self.version = version
    }

    /// One thing that was tried.
    package struct Trial: Sendable {
        package let finding: Finding
        package let outcome: SyncReport.Outcome
    }

    package func run() async throws -> [Trial] {
        let directory = try TemporaryState()
        defer { directory.remove() }
        var parts = try self.parts(in: directory)
        var trials: [Trial] = []
        for app in configuration.apps {
            let findings = await Doctor(configuration).server(of: app)
            trials += findings.map { Trial($0, otherwise: .offline) }
            guard findings.allSatisfy({ $0.verdict == .good }) else { continue }
            try parts.add(app)
            for user in configuration.users where user.app.name == app.name {
                trials += await examine(user, &parts)
            }
        }
        for app in parts.apps.values { await app.close() }
        return trials
    }

    private func parts(in directory: TemporaryState) throws -> Parts {
        let log = AgentLog(configuration.daemon.log, atLeast: .off)
        let events = AgentEvents()
        return Parts(
            version: version,
            log: log,
            database: try MetadataDatabase(path: directory.path + "/metadata.sqlite"),
            events: events,
            recoveredDirectory: directory.path,
            plugins: PluginRegistry([], log: log, events: events)
        )
    }
}

// MARK: Users

extension ConnectionCheck {
    private func examine(_ user: UserConfiguration, _ parts: inout Parts) async -> [Trial] {
        var guest = user
        // A check never registers an account.
        if case .emailPassword(let email, let password, _) = user.provider {
            guest.provider = .emailPassword(email: email, password: password, registers: false)
        }
        parts.add(guest)
        guard let session = parts.users[user.name]?.session,
            let endpoint = parts.users[user.name]?.user.endpoint
        else { return [] }
        let account: Account
        do throws(UserSession.Failure) {
            switch user.provider {
            case .anonymous:
                guard let known = try await knownAccount(of: user, session, parts.database) else {
                    return [Self.untried(user, "an anonymous log-in makes a new account")]
                }
                account = known
            case .jwt, .function:
                // Only the server knows whether the credential is of a user that it has.
                guard (try? configuration.storedAccount(of: user)) != nil else {
                    _ = try await user.provider.credential()
                    return [Self.untried(user, "the first log-in of this user makes a new account")]
                }
                account = try await session.logIn()
            case .emailPassword, .apiKey:
                account = try await session.logIn()
            }
        } catch {
            if case .logInRefused = error, user.provider.registersAccount,
                (try? configuration.storedAccount(of: user)) == nil
            {
                return [Self.unregistered(user, error)]
            }
            let failure = RealmFailure(error)
            let finding = Finding.problem(
                "log-in",
                user.name,
                failure.detail,
                remedy: "correct users.\(user.name), or ask the server's operator"
            )
            return [Trial(finding: finding, outcome: SyncReport.Outcome(failure.outcome))]
        }
        var trials = [Trial(.good("log-in", user.name, "as \(account.userID)"))]
        for realm in configuration.realms where realm.isEnabled && realm.user.name == user.name {
            trials.append(await examine(realm, account, endpoint))
        }
        // The session of an anonymous user is the agent's own.
        if user.provider != .anonymous { _ = try? await session.logOut() }
        return trials
    }

    /// The account that the agent has, with a token of its own: another log-in would be another user.
    private func knownAccount(
        of user: UserConfiguration,
        _ session: UserSession,
        _ database: MetadataDatabase
    ) async throws(UserSession.Failure) -> Account? {
        guard let known = try? configuration.storedAccount(of: user) else { return nil }
        let seconds = WallTime.now().millisecondsSince1970 / 1000
        try? await database.save(known, of: user.name, appID: user.app.appID, at: seconds)
        return try await session.refresh(replacing: known.accessToken)
    }

    private static func untried(_ user: UserConfiguration, _ reason: String) -> Trial {
        Trial(
            .warning(
                "log-in",
                user.name,
                "not tried: \(reason)",
                remedy: "start the agent, and see `realm-agent status`"
            )
        )
    }

    /// The agent would first register the account.
    private static func unregistered(
        _ user: UserConfiguration,
        _ failure: UserSession.Failure
    ) -> Trial {
        Trial(
            .warning(
                "log-in",
                user.name,
                "the server refused it (\(failure.message)), and the agent has not registered the "
                    + "account yet (register: true)",
                remedy: "start the agent, which registers it; if the account exists, correct its "
                    + "password"
            )
        )
    }
}

// MARK: Realms

extension ConnectionCheck {
    private func examine(
        _ realm: RealmConfiguration,
        _ account: Account,
        _ endpoint: AppEndpoint
    ) async -> Trial {
        let (scope, subject): (SyncScope, String)
        do throws(PartitionError) {
            switch realm.scope {
            case .subscriptions: (scope, subject) = (.subscriptions, "flexible sync")
            case .partition(let setting):
                let partition = try setting.value(userID: account.userID)
                scope = .partition(partition)
                subject = "partition \(partition.canonicalText)"
            }
        } catch {
            return Trial(
                finding: .problem(
                    "sync",
                    realm.name,
                    error.description,
                    remedy: "correct realms.\(realm.name).partition"
                ),
                outcome: .configuration
            )
        }
        switch await probe(scope, account, endpoint) {
        case .success(.admitted):
            return Trial(.good("sync", realm.name, "the server lets \(subject) in"))
        case .success(.movedToFlexibleSync):
            return await examine(moved: realm, account, endpoint)
        case .success(.refused(let issue)):
            return Self.refused(realm, subject, issue)
        case .failure(let error):
            return Self.unreached(realm, error)
        }
    }

    /// The realm's agent continues with subscriptions to the objects of its partition.
    private func examine(
        moved realm: RealmConfiguration,
        _ account: Account,
        _ endpoint: AppEndpoint
    ) async -> Trial {
        switch await probe(.subscriptions, account, endpoint) {
        case .success(.admitted), .success(.movedToFlexibleSync):
            Trial(
                .good("sync", realm.name, "the app has moved to flexible sync, and lets users in")
            )
        case .success(.refused(let issue)):
            Self.refused(realm, "flexible sync, to which the app has moved", issue)
        case .failure(let error):
            Self.unreached(realm, error)
        }
    }

    private static func refused(
        _ realm: RealmConfiguration,
        _ subject: String,
        _ issue: SessionIssue
    ) -> Trial {
        Trial(
            finding: .problem(
                "sync",
                realm.name,
                "the server refuses \(subject): \(issue.message) [\(issue.code)]",
                remedy: ErrorCatalogue.remedy(
                    for: issue.code,
                    realm: realm.name,
                    user: realm.user.name
                ) ?? "ask the server's operator"
            ),
            outcome: issue.kind == .clientReset ? .resetRequired : .failed
        )
    }

    private static func unreached(_ realm: RealmConfiguration, _ error: NoConnection) -> Trial {
        Trial(
            finding: .problem(
                "sync",
                realm.name,
                "no connection: \(error.reason)",
                remedy: "check the network, and that proxies let WebSockets through"
            ),
            outcome: .offline
        )
    }

    private struct NoConnection: Error {
        let reason: String
    }

    private func probe(
        _ scope: SyncScope,
        _ account: Account,
        _ endpoint: AppEndpoint
    ) async -> Result<BindProbe.Response, NoConnection> {
        let (answer, probe) = (Answer(), BindProbe(scope))
        return await withTaskGroup(of: Result<BindProbe.Response, NoConnection>.self) { group in
            group.addTask {
                do {
                    try await endpoint.withConnection(
                        EndpointToken(account.accessToken.text),
                        subProtocols: SubProtocol.offer(for: probe.mode)
                    ) { stream in
                        answer.give(try await probe.run(on: stream))
                        await stream.close(.normal, reason: "")
                    }
                } catch {
                    // An error after the answer changes nothing.
                    return answer.given.map { .success($0) }
                        ?? .failure(NoConnection(reason: "\(error)"))
                }
                return answer.given.map { .success($0) }
                    ?? .failure(NoConnection(reason: "no answer"))
            }
            group.addTask {
                try? await Task.sleep(for: Self.timeout)
                return .failure(NoConnection(reason: "no answer within \(Self.timeout.forPeople)"))
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(NoConnection(reason: "cancelled"))
        }
    }

    /// The server's response, passed out of the connection.
    private final class Answer: Sendable {
        private let response = Mutex<BindProbe.Response?>(nil)

        func give(_ given: BindProbe.Response) {
            response.withLock { $0 = given }
        }

        var given: BindProbe.Response? { response.withLock { $0 } }
    }
}

extension ConnectionCheck.Trial {
    /// Problems have the given outcome; warnings and good findings are done.
    fileprivate init(_ finding: Finding, otherwise outcome: SyncReport.Outcome = .failed) {
        self.init(finding: finding, outcome: finding.verdict == .problem ? outcome : .done)
    }
}

/// A directory that is deleted after the check.
private struct TemporaryState {
    let path: String

    init() throws {
        var name = Array("/tmp/realm-agent-check-XXXXXX".utf8CString)
        guard let made = mkdtemp(&name) else {
            throw DataDirectory.Failure(
                path: "/tmp",
                reason: String(cString: strerror(errno))
            )
        }
        path = String(cString: made)
    }

    func remove() {
        for suffix in ["", "-wal", "-shm"] { unlink("\(path)/metadata.sqlite\(suffix)") }
        rmdir(path)
    }
}
