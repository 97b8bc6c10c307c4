import AppServices
import Config
import Control
import LocalRealm
import Logging
import Platform
import SyncClient

/// Brings one configured realm up, and up again: log-in, file, session (interfaces, 5).
///
/// What time can heal is tried again with growing pauses; `attempt()` cuts a pause short.
actor RealmSupervisor {
    private enum Stage {
        case starting
        /// The user is not logged in, or its file is not open; the outcome of the last attempt.
        case failed(Failure)
        case running(RealmClient)
    }

    /// Why there is no session yet.
    struct Failure: Error, Sendable {
        let state: RealmState
        let cause: String
        let detail: String
        let outcome: SyncReport.Outcome
    }

    nonisolated let configuration: RealmConfiguration
    private let user: UserSession
    private let connection: UserConnection
    private let opener: RealmOpener
    private let pauses: AttemptPauses
    private let logger: Logger
    private var stage = Stage.starting
    private var userID: String?
    private var attemptWaiters: [CheckedContinuation<Void, Never>] = []
    private let attemptNow = Signal()

    init(
        _ configuration: RealmConfiguration,
        user: UserSession,
        connection: UserConnection,
        opener: RealmOpener,
        pauses: AttemptPauses,
        logger: Logger
    ) {
        self.configuration = configuration
        self.user = user
        self.connection = connection
        self.opener = opener
        self.pauses = pauses
        var logger = logger
        logger[metadataKey: "realm"] = "\(configuration.name)"
        self.logger = logger
    }

    /// Runs until the task is cancelled.
    func run() async {
        var failures = 0
        while !Task.isCancelled {
            do throws(Failure) {
                let client = try await bringUp()
                failures = 0
                settle(.running(client))
                try await run(client)
            } catch {
                failures += 1
                report(error)
                settle(.failed(error))
                _ = await attemptNow.wait(
                    atMost: pauses.pause(after: failures),
                    pauses.time
                )
            }
        }
        settle(.starting)
    }

    private func bringUp() async throws(Failure) -> RealmClient {
        let account: Account
        do throws(UserSession.Failure) {
            account = try await user.logIn()
        } catch {
            throw Failure(error)
        }
        userID = account.userID
        do throws(RealmOpener.Failure) {
            return try await opener.open(configuration, userID: account.userID)
        } catch {
            throw Failure(error)
        }
    }

    /// Runs the realm until the task is cancelled; the file is closed in any case.
    private func run(_ client: RealmClient) async throws(Failure) {
        do throws(LocalRealmError) {
            try await connection.run(client)
            await client.close()
        } catch {
            await client.close()
            throw Failure(.realm(error))
        }
    }

    private func settle(_ stage: Stage) {
        self.stage = stage
        for waiter in attemptWaiters { waiter.resume() }
        attemptWaiters = []
    }

    /// One message for one fact: the same failure again is no news.
    private func report(_ failure: Failure) {
        if case .failed(let last) = stage, last.cause == failure.cause,
            last.detail == failure.detail
        {
            logger.debug("realm is still not open", metadata: ["cause": "\(failure.cause)"])
            return
        }
        logger.warning(
            "realm is not open",
            metadata: ["cause": "\(failure.cause)", "detail": "\(failure.detail)"]
        )
    }
}

// MARK: Sync now

extension RealmSupervisor {
    /// Everything up and down, or the reason why not.
    func sync(timeout: Duration?) async -> SyncReport {
        let client: RealmClient
        do throws(Failure) {
            client = try await running()
        } catch {
            return SyncReport(
                realm: configuration.name,
                outcome: error.outcome,
                detail: error.detail
            )
        }
        let before = await client.snapshot()
        let outcome = await client.sync(timeout: timeout, pauses.time)
        let after = await client.snapshot()
        return SyncReport(
            realm: configuration.name,
            outcome: outcome,
            uploadedBytes: after.file.uploadedBytes &- before.file.uploadedBytes,
            downloadedBytes: after.file.downloadedBytes &- before.file.downloadedBytes
        )
    }

    /// The running client, after one more attempt if need be.
    private func running() async throws(Failure) -> RealmClient {
        if case .running(let client) = stage { return client }
        attemptNow.raise()
        await withCheckedContinuation { attemptWaiters.append($0) }
        switch stage {
        case .running(let client):
            return client
        case .failed(let failure):
            throw failure
        case .starting:
            throw Failure(
                state: .offline,
                cause: "stopping",
                detail: "the agent is stopping",
                outcome: .offline
            )
        }
    }
}

// MARK: Status

extension RealmSupervisor {
    func status() async -> RealmStatus {
        var status = RealmStatus(
            name: configuration.name,
            path: configuration.path,
            app: configuration.user.app.name,
            user: configuration.user.name,
            partition: partition,
            state: .waitingForUser
        )
        switch stage {
        case .starting:
            break
        case .failed(let failure):
            status.state = failure.state
            status.cause = failure.cause
            status.detail = failure.detail
        case .running(let client):
            status.describe(await client.snapshot())
        }
        return status
    }

    /// The partition as BIND carries it; empty while it depends on a user who never logged in.
    private var partition: String {
        guard let value = try? configuration.partition.value(userID: userID ?? "") else {
            return ""
        }
        return value.canonicalExtendedJSON
    }
}
