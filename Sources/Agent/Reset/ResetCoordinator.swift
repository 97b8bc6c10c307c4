import Changesets
import ClientReset
import Config
import Glibc
import LocalRealm
import Logging
import Platform
import Plugins
import SyncClient

/// Carries one client reset of a realm out, from the server's wish to the restarted session
/// (client reset, 1).
///
/// What to do is `ResetDecision`'s to say, and how a realm changes is the realm file's: here they are
/// brought together with the download of the fresh copy and the owner's handlers.
struct ResetCoordinator: Sendable {
    let configuration: RealmConfiguration
    let userID: String
    let client: RealmClient
    let connection: UserConnection
    let opener: RealmOpener
    /// Nil where nobody wants to hear of resets.
    let handlers: HandlerRunner?
    /// Where copies and discarded changes go.
    let recoveredDirectory: String
    let agentVersion: String
    let time: SyncTime
    let now: @Sendable () -> Int64
    let report: @Sendable (ResetStep) async -> Void
    let logger: Logger

    enum Outcome: Sendable {
        case done(ResetResult)
        /// The realm is as it was, and its owner has to do something.
        case refused(ResetFailure)
        /// A handler wants it to wait.
        case putOff(HandlerVerdict)
        /// The agent stops; the next one begins again.
        case interrupted
    }

    /// How long a disk or another program gets before the next try.
    private static let pause = Duration.seconds(2)

    func run(_ cause: ResetCause, mode: ResetMode) async -> Outcome {
        do {
            // What cannot be is found out before anything is downloaded.
            _ = try await decide(cause, mode)
            await report(.downloading(nil))
            try await patiently { try await downloadFreshCopy() }
            return .done(try await replace(cause, try await askHandlers(cause, mode)))
        } catch let failure as ResetFailure {
            return .refused(failure)
        } catch let wish as PutOff {
            return .putOff(wish.verdict)
        } catch {
            return .interrupted
        }
    }

    /// What a reset would do, and why it would throw away what the mode would rather recover.
    ///
    /// - Throws: a `ResetFailure` where it would be left to the owner.
    func rehearse(
        _ cause: ResetCause,
        mode: ResetMode
    ) async throws -> (report: ResetReport, obstacle: ResetFailure?) {
        let method = try await decide(cause, mode).method
        defer { RealmFile.removeFreshCopy(of: configuration.path) }
        do {
            try await downloadFreshCopy()
        } catch let obstacle as Obstacle {
            throw ResetFailure.noFreshCopy(obstacle.description)
        }
        do {
            let report = try await client.rehearseReset(method)
            let isForbidden = method == .discard && mode == .recoverOrDiscard
            return (report, isForbidden ? .recoveryNotPermitted : nil)
        } catch let failure as ResetFailure where failure.isOfRecovery && mode == .recoverOrDiscard
        {
            return (try await client.rehearseReset(.discard), failure)
        }
    }

    private func decide(_ cause: ResetCause, _ mode: ResetMode) async throws -> ResetAttempt {
        let earlier = try await patiently { try await client.resetAttempt() }
        switch ResetDecision(
            mode: mode,
            cause: cause,
            earlier: earlier,
            agentVersion: agentVersion,
            now: now()
        ) {
        case .giveUp(let failure): throw failure
        case .attempt(let attempt): return attempt
        }
    }

    /// Does what a disk or another program is in the way of as soon as it is not.
    private func patiently<Result: Sendable>(
        _ work: () async throws -> Result
    ) async throws -> Result {
        var lastReason: String?
        while true {
            try Task.checkCancellation()
            do {
                return try await work()
            } catch let failure as ResetFailure {
                throw failure
            } catch let end as CancellationError {
                throw end
            } catch {
                let reason = "\(error)"
                logger.log(
                    level: reason == lastReason ? .debug : .error,
                    "client reset delayed",
                    metadata: ["detail": "\(reason)"]
                )
                lastReason = reason
            }
            try await time.sleep(Self.pause)
        }
    }
}

// MARK: Handlers

extension ResetCoordinator {
    /// A handler wants the reset to wait.
    private struct PutOff: Error {
        let verdict: HandlerVerdict
    }

    /// Lets the handlers see the realm as it is, and hears in which mode they want the reset.
    private func askHandlers(_ cause: ResetCause, _ mode: ResetMode) async throws -> ResetMode {
        guard let handlers else { return mode }
        await report(.askingHandlers)
        let verdict = await handlers.resetBegins(reason: cause.message, mode: mode)
        try Task.checkCancellation()
        if configuration.clientReset.requiresBefore, !verdict.failures.isEmpty {
            throw ResetFailure.handlerFailed(verdict.failures.joined(separator: "; "))
        }
        switch verdict.decision {
        case .suspend, .stop: throw PutOff(verdict: verdict)
        case .reset(.manual?): throw ResetFailure.manualMode
        case .reset(let other?): return other
        case .discard: return .discard
        case .continue, .reset(nil), .retry, .relogin: return mode
        }
    }

    private func tellHandlers(_ reset: FinishedReset) async throws -> HandlerVerdict {
        defer { unlink(RealmFile.earlierPath(of: configuration.path)) }
        guard let handlers else { return .continue }
        await report(.tellingHandlers)
        let verdict = await handlers.resetEnded(reset)
        // Whoever was not told because the agent stops is told when it is back.
        try Task.checkCancellation()
        return verdict
    }
}

// MARK: The transaction

extension ResetCoordinator {
    /// Makes the realm what the fresh copy is.
    private func replace(_ cause: ResetCause, _ mode: ResetMode) async throws -> ResetResult {
        await report(.replacing)
        do {
            return try await carryOut(try await decide(cause, mode), cause, mode)
        } catch let failure as ResetFailure where failure.isOfRecovery && mode == .recoverOrDiscard
        {
            logger.warning("recovery is impossible", metadata: ["detail": "\(failure)"])
            // The failed attempt is on record now, and leads to discarding.
            let again = ResetCause(action: cause.action, code: cause.code, message: cause.message)
            return try await carryOut(try await decide(again, mode), cause, mode)
        }
    }

    private func carryOut(
        _ attempt: ResetAttempt,
        _ cause: ResetCause,
        _ mode: ResetMode
    ) async throws -> ResetResult {
        logger.notice("client reset", metadata: ["method": "\(attempt.method)"])
        let keepsake = ResetKeepsake(
            configuration: configuration,
            recoveredDirectory: recoveredDirectory,
            attempt: attempt,
            cause: cause,
            keepsEarlierRealm: handlers?.wantsRealmBeforeReset ?? false,
            logger: logger
        )
        let done = try await patiently {
            try await client.carryOutReset(attempt) { try keepsake.keep($0) }
        }
        RealmFile.removeFreshCopy(of: configuration.path)
        for change in done.discarded { log(change) }
        let verdict = try await tellHandlers(
            FinishedReset(
                mode: mode,
                didRecover: done.didRecover,
                beforePath: keepsake.earlierPath,
                discarded: done.discardedByClass,
                exportPath: keepsake.exportPath(for: done)
            )
        )
        return ResetResult(
            report: done,
            mode: mode,
            exportPath: keepsake.exportPath(for: done),
            copyPath: keepsake.copyPath,
            verdict: verdict
        )
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

    /// Whether the program ended before the handlers were told of a reset that was carried out.
    var hasUntoldHandlers: Bool {
        access(RealmFile.earlierPath(of: configuration.path), F_OK) == 0
    }

    /// Tells the handlers of a reset after which the program ended before it could.
    func tellOfEarlierReset(_ attempt: ResetAttempt, mode: ResetMode) async throws -> HandlerVerdict
    {
        let keepsake = ResetKeepsake(
            configuration: configuration,
            recoveredDirectory: recoveredDirectory,
            attempt: attempt,
            cause: nil,
            keepsEarlierRealm: true,
            logger: logger
        )
        return try await tellHandlers(
            FinishedReset(
                mode: mode,
                didRecover: attempt.method == .recover,
                beforePath: keepsake.earlierPath,
                discarded: nil,
                exportPath: keepsake.existingExportPath
            )
        )
    }
}

// MARK: The fresh copy

extension ResetCoordinator {
    /// A disk or another program is in the way of the fresh copy, and will not be for ever.
    private struct Obstacle: Error, CustomStringConvertible {
        let description: String
    }

    /// Downloads the server's state beside the realm, for as long as it takes (client reset, 4).
    ///
    /// - Throws: `ResetFailure.noFreshCopy` if the server refuses, or the file cannot be opened;
    ///   `Obstacle`; `CancellationError`.
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
        } catch .realm(let error) where error.kind.isHealedByTime {
            throw Obstacle(description: error.description)
        } catch {
            throw ResetFailure.noFreshCopy(Self.reason(error))
        }
        let outcome = await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await connection.run(fresh) }
            group.addTask { await reportProgress(of: fresh) }
            defer { group.cancelAll() }
            return await wait(for: fresh)
        }
        await connection.leave(fresh)
        await fresh.close()
        switch outcome {
        case .done: return
        case .refused(let issue) where issue.isHealedByTime:
            throw Obstacle(description: issue.message)
        case .refused(let issue): throw ResetFailure.noFreshCopy("\(issue.message) [\(issue.code)]")
        case .failed(let reason): throw ResetFailure.noFreshCopy(reason)
        case .offline, .loginRequired, .timedOut: throw CancellationError()
        }
    }

    /// In steps of a twentieth: whoever watches wants to see that it goes on.
    private func reportProgress(of fresh: RealmClient) async {
        var reported = 0
        for await progress in await fresh.progress(.download, .indefinite) {
            let twentieth = Int(progress.estimate * 20)
            guard twentieth > reported else { continue }
            reported = twentieth
            await report(.downloading(progress.estimate))
        }
    }

    /// A lost network is no failure, nor a server that has no time: the session comes back by itself.
    private func wait(for fresh: RealmClient) async -> SyncOutcome {
        var outcome = await fresh.wait(for: TransferDirection.allCases, timeout: nil, time)
        while !Task.isCancelled {
            switch outcome {
            case .done, .refused, .failed: return outcome
            case .offline, .loginRequired, .timedOut: break
            }
            guard (try? await time.sleep(Self.pause)) != nil else { break }
            outcome = await fresh.wait(for: TransferDirection.allCases, timeout: nil, time)
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
