import Changesets
import ClientReset
import Config
import LocalRealm
import Logging
import Platform
import SyncClient

/// Carries one client reset of a realm out, from the server's wish to the restarted session
/// (client reset, 1).
///
/// What to do is `ResetDecision`'s to say, and how a realm changes is the realm file's: here they are
/// brought together with the download of the fresh copy.
struct ResetCoordinator: Sendable {
    let configuration: RealmConfiguration
    let userID: String
    let client: RealmClient
    let connection: UserConnection
    let opener: RealmOpener
    /// Where the file with discarded changes goes.
    let recoveredDirectory: String
    let agentVersion: String
    let time: SyncTime
    let now: @Sendable () -> Int64
    let logger: Logger

    enum Outcome: Sendable {
        case done(ResetReport, exportPath: String?)
        /// The realm is as it was, and its owner has to do something.
        case refused(ResetFailure)
        /// The agent stops; the next one begins again.
        case interrupted
    }

    /// How long a disk or another program gets before the next try.
    private static let pause = Duration.seconds(2)

    func run(_ cause: ResetCause, mode: ResetMode) async -> Outcome {
        var cause = cause
        var hasFreshCopy = false
        while !Task.isCancelled {
            do {
                let attempt: ResetAttempt
                switch ResetDecision(
                    mode: mode,
                    cause: cause,
                    earlier: try await client.resetAttempt(),
                    agentVersion: agentVersion,
                    now: now()
                ) {
                case .giveUp(let failure): return .refused(failure)
                case .attempt(let next): attempt = next
                }
                if !hasFreshCopy { try await downloadFreshCopy() }
                hasFreshCopy = true
                return try await carryOut(attempt)
            } catch let failure as ResetFailure {
                guard failure.isOfRecovery, mode == .recoverOrDiscard else {
                    return .refused(failure)
                }
                logger.warning("recovery is impossible", metadata: ["detail": "\(failure)"])
                // The failed attempt is on record now, and leads to discarding.
                cause = ResetCause(action: cause.action, code: cause.code, message: cause.message)
            } catch is CancellationError {
                return .interrupted
            } catch {
                logger.error("client reset delayed", metadata: ["detail": "\(error)"])
                guard (try? await time.sleep(Self.pause)) != nil else { return .interrupted }
            }
        }
        return .interrupted
    }

    /// What a reset would do.
    func rehearse(mode: ResetMode) async throws -> ResetReport {
        defer { RealmFile.removeFreshCopy(of: configuration.path) }
        try await downloadFreshCopy()
        return try await client.rehearseReset(mode == .discard ? .discard : .recover)
    }

    private func carryOut(_ attempt: ResetAttempt) async throws -> Outcome {
        logger.notice("client reset", metadata: ["method": "\(attempt.method)"])
        let file = RecoveredFile(
            in: recoveredDirectory,
            realm: configuration.name,
            at: WallTime(millisecondsSince1970: attempt.startedAt),
            suffix: ".jsonl"
        )
        let report = try await client.carryOutReset(attempt) { report in
            guard !report.didRecover, !report.unsynced.isEmpty else { return }
            try file.write(report.unsynced)
        }
        RealmFile.removeFreshCopy(of: configuration.path)
        for change in report.discarded { log(change) }
        let hasFile = !report.didRecover && !report.unsynced.isEmpty
        return .done(report, exportPath: hasFile ? file.path : nil)
    }

    private func log(_ change: DiscardedChange) {
        logger.warning(
            "an unsynced change was superseded on the server",
            metadata: [
                "class": "\(change.object.className)", "key": "\(change.object.key)",
                "property": "\(change.property?.description ?? "")",
                "reason": "\(change.reason.rawValue)",
            ]
        )
    }
}

// MARK: The fresh copy

extension ResetCoordinator {
    /// Downloads the server's state beside the realm, for as long as it takes (client reset, 4).
    ///
    /// - Throws: `ResetFailure.noFreshCopy` if the server refuses, or the file cannot be written;
    ///   `CancellationError`.
    private func downloadFreshCopy() async throws {
        do {
            try await download()
        } catch ResetFailure.noFreshCopy(let reason) {
            // What an interrupted reset has left behind may be of no use to the server any more.
            logger.info("the fresh copy is downloaded anew", metadata: ["reason": "\(reason)"])
            RealmFile.removeFreshCopy(of: configuration.path)
            try await download()
        }
    }

    private func download() async throws {
        let fresh: RealmClient
        do throws(RealmOpener.Failure) {
            fresh = try await opener.open(configuration, userID: userID, isFreshCopy: true) { _ in }
        } catch {
            throw ResetFailure.noFreshCopy(Self.reason(error))
        }
        let outcome = await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await connection.run(fresh) }
            defer { group.cancelAll() }
            return await wait(for: fresh)
        }
        await connection.leave(fresh)
        await fresh.close()
        switch outcome {
        case .done: return
        case .refused(let issue): throw ResetFailure.noFreshCopy("\(issue.message) [\(issue.code)]")
        case .failed(let reason): throw ResetFailure.noFreshCopy(reason)
        case .offline, .loginRequired, .timedOut: throw CancellationError()
        }
    }

    /// A lost network is no failure: the session comes back by itself.
    private func wait(for fresh: RealmClient) async -> SyncOutcome {
        var outcome = await fresh.sync(timeout: nil, time)
        while !Task.isCancelled {
            switch outcome {
            case .done, .refused, .failed: return outcome
            case .offline, .loginRequired, .timedOut: break
            }
            guard (try? await time.sleep(Self.pause)) != nil else { break }
            outcome = await fresh.sync(timeout: nil, time)
        }
        return outcome
    }

    private static func reason(_ failure: RealmOpener.Failure) -> String {
        switch failure {
        case .partition(let reason), .directory(let reason): reason
        case .flexible: "flexible sync has no client resets yet"
        case .realm(let error): error.description
        }
    }
}
