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
        /// Never to run again.
        case stopped
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
    private let time: SyncTime
    private let logger: Logger
    private var pauses: AttemptPauses
    private var stage = Stage.starting
    private var userID: String?
    private var lastReported: Failure?
    /// Who waits for the end of an attempt; true says that it has come, false that the time is over.
    private var attemptWaiters: [Int: CheckedContinuation<Bool, Never>] = [:]
    private var nextWaiterID = 1
    private let attemptNow = Signal()

    init(
        _ configuration: RealmConfiguration,
        user: UserSession,
        connection: UserConnection,
        opener: RealmOpener,
        pauses: AttemptPauses,
        time: SyncTime,
        logger: Logger
    ) {
        self.configuration = configuration
        self.user = user
        self.connection = connection
        self.opener = opener
        self.pauses = pauses
        self.time = time
        var logger = logger
        logger[metadataKey: "realm"] = "\(configuration.name)"
        self.logger = logger
    }

    /// Runs until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do throws(Failure) {
                try await run(bringUp())
            } catch {
                // What fails because we stop is no news.
                if Task.isCancelled { break }
                report(error)
                settle(.failed(error))
                _ = await attemptNow.wait(atMost: pauses.next(), time)
            }
        }
        settle(.stopped)
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
        settle(.running(client))
        let start = time.uptime()
        do throws(LocalRealmError) {
            try await connection.run(client)
            await client.close()
        } catch {
            await client.close()
            pauses.wasOpen(time.uptime() - start)
            throw Failure(.realm(error))
        }
    }

    private func settle(_ stage: Stage) {
        self.stage = stage
        for waiter in attemptWaiters.values { waiter.resume(returning: true) }
        attemptWaiters = [:]
    }

    /// One message for one fact: the same failure again is no news.
    private func report(_ failure: Failure) {
        let isNews = failure.cause != lastReported?.cause || failure.detail != lastReported?.detail
        lastReported = failure
        logger.log(
            level: isNews ? .warning : .debug,
            "realm is not open",
            metadata: ["cause": "\(failure.cause)", "detail": "\(failure.detail)"]
        )
    }
}

// MARK: Sync now

extension RealmSupervisor {
    /// Everything up and down, or the reason why not.
    func sync(timeout: Duration?) async -> SyncReport {
        let deadline = timeout.map { time.uptime() + $0 }
        let client: RealmClient
        do throws(Failure) {
            client = try await running(until: deadline)
        } catch {
            return SyncReport(
                realm: configuration.name,
                outcome: error.outcome,
                detail: error.detail
            )
        }
        let before = await client.snapshot()
        let rest = deadline.map { max(.zero, $0 - time.uptime()) }
        let outcome = await client.sync(timeout: rest, time)
        let after = await client.snapshot()
        return SyncReport(
            realm: configuration.name,
            outcome: outcome,
            uploadedBytes: after.file.uploadedBytes &- before.file.uploadedBytes,
            downloadedBytes: after.file.downloadedBytes &- before.file.downloadedBytes
        )
    }

    /// The running client, after one more attempt if need be.
    private func running(until deadline: Duration?) async throws(Failure) -> RealmClient {
        switch stage {
        case .running(let client): return client
        case .stopped: throw .stopping
        case .failed: attemptNow.raise()
        case .starting: break
        }
        guard await attempt(until: deadline) else { throw .late }
        switch stage {
        case .running(let client): return client
        case .failed(let failure): throw failure
        case .starting, .stopped: throw .stopping
        }
    }

    /// Waits until the attempt under way has come to something; false if the time is over first.
    private func attempt(until deadline: Duration?) async -> Bool {
        let id = nextWaiterID
        nextWaiterID += 1
        return await withTaskGroup { group in
            group.addTask { [time] in
                guard let deadline else { return }
                guard (try? await time.sleep(deadline - time.uptime())) != nil else { return }
                await self.letGo(id)
            }
            let hasCome = await withCheckedContinuation { attemptWaiters[id] = $0 }
            group.cancelAll()
            return hasCome
        }
    }

    private func letGo(_ id: Int) {
        attemptWaiters.removeValue(forKey: id)?.resume(returning: false)
    }
}

extension RealmSupervisor.Failure {
    fileprivate static let stopping = Self(
        state: .offline,
        cause: "by-user",
        detail: "the agent is stopping",
        outcome: .offline
    )

    fileprivate static let late = Self(
        state: .waitingForUser,
        cause: "backoff",
        detail: "the realm was not open in the time given",
        outcome: .timedOut
    )
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
        case .starting, .stopped:
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
