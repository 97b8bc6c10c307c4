import Changesets
import ClientReset
import Glibc
import LocalRealm
import Logging
import Scopes
import Subscriptions
import SyncClient

/// Carries out one client reset of a realm, from the server's request to the restarted session
/// (client reset, 1).
///
/// `ResetDecision` decides, and the realm file changes the realm. The coordinator adds the download
/// of the fresh copy, and consults the delegate.
struct ResetCoordinator: Sendable {
    let context: RealmContext
    let userID: String
    let client: RealmClient
    let report: @Sendable (ResetStep) async -> Void

    enum Outcome: Sendable {
        case done(ResetResult)
        /// The realm is unchanged, and its owner must act.
        case refused(ResetFailure)
        /// The delegate postponed the reset.
        case postponed(RealmDecision)
        /// The process stops; the next one restarts the reset.
        case interrupted
    }

    /// Delay before the next try, for a full disk or another program's lock.
    private static let pause = Duration.seconds(2)

    func run(_ cause: ResetCause, mode: ResetMode) async -> Outcome {
        do {
            // Find out before the download whether the reset is possible.
            _ = try await decide(cause, mode)
            let change = try await change(for: cause)
            await report(.downloading(nil))
            try await retryWhileBusy { try await downloadFreshCopy(change) }
            return .done(try await replace(cause, try await askDelegate(cause, mode), change))
        } catch let failure as ResetFailure {
            return .refused(failure)
        } catch let postponement as Postponement {
            return .postponed(postponement.decision)
        } catch {
            return .interrupted
        }
    }

    /// Reports what a reset would do, and why it would discard changes in a mode that recovers.
    ///
    /// - Throws: a `ResetFailure` if the reset would be left to the owner.
    func rehearse(
        _ cause: ResetCause,
        mode: ResetMode
    ) async throws -> (report: ResetReport, obstacle: ResetFailure?) {
        let method = try await decide(cause, mode).method
        let change = try await change(for: cause)
        defer { RealmFile.removeFreshCopy(of: context.options.path) }
        do {
            try await downloadFreshCopy(change)
        } catch let obstacle as Obstacle {
            throw ResetFailure.noFreshCopy(obstacle.description)
        }
        do {
            let report = try await client.rehearseReset(method, switching: change)
            let isForbidden = method == .discard && mode == .recoverOrDiscard
            return (report, isForbidden ? .recoveryNotPermitted : nil)
        } catch let failure as ResetFailure where failure.isOfRecovery && mode == .recoverOrDiscard
        {
            return (try await client.rehearseReset(.discard, switching: change), failure)
        }
    }

    private func decide(_ cause: ResetCause, _ mode: ResetMode) async throws -> ResetAttempt {
        let earlier = try await retryWhileBusy { try await client.resetAttempt() }
        switch ResetDecision(
            mode: mode,
            cause: cause,
            earlier: earlier,
            agentVersion: context.version,
            now: context.now()
        ) {
        case .giveUp(let failure):
            context.resetLogger.info(
                "client reset decided",
                metadata: ["method": "none", "mode": "\(mode.rawValue)", "code": "\(failure.code)"]
            )
            throw failure
        case .attempt(let attempt):
            context.resetLogger.info(
                "client reset decided",
                metadata: ["method": "\(attempt.method)", "mode": "\(mode.rawValue)"]
            )
            return attempt
        }
    }

    /// Repeats the operation while a full disk or another program blocks it.
    private func retryWhileBusy<Result: Sendable>(
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
                context.resetLogger.log(
                    level: reason == lastReason ? .debug : .error,
                    "client reset delayed",
                    metadata: ["detail": "\(reason)"]
                )
                lastReason = reason
            }
            try await context.time.sleep(Self.pause)
        }
    }
}

// MARK: The delegate

extension ResetCoordinator {
    /// The delegate postponed the reset.
    private struct Postponement: Error {
        let decision: RealmDecision
    }

    /// Consults the delegate before the reset, and returns the mode that it chooses.
    private func askDelegate(_ cause: ResetCause, _ mode: ResetMode) async throws -> ResetMode {
        guard let delegate = context.delegate else { return mode }
        await report(.askingHandlers)
        let consent = await delegate.resetWillBegin(reason: cause.message, mode: mode)
        try Task.checkCancellation()
        switch consent {
        case .refuse(let reason): throw ResetFailure.handlerFailed(reason)
        case .postpone(let decision): throw Postponement(decision: decision)
        case .proceed(.manual?): throw ResetFailure.manualMode
        case .proceed(let other): return other ?? mode
        }
    }

    private func tellDelegate(_ reset: FinishedReset) async throws -> RealmDecision {
        defer { unlink(RealmFile.earlierPath(of: context.options.path)) }
        guard let delegate = context.delegate else { return .continue }
        await report(.tellingHandlers)
        let decision = await delegate.resetDidFinish(reset)
        // If the process stops before the call returns, the next one repeats it.
        try Task.checkCancellation()
        return decision
    }
}

// MARK: The transaction

extension ResetCoordinator {
    /// Replaces the realm's state by the fresh copy's.
    private func replace(
        _ cause: ResetCause,
        _ mode: ResetMode,
        _ change: ModeSwitch?
    ) async throws -> ResetResult {
        await report(.replacing)
        do {
            return try await carryOut(try await decide(cause, mode), cause, mode, change)
        } catch let failure as ResetFailure where failure.isOfRecovery && mode == .recoverOrDiscard
        {
            context.resetLogger.warning(
                "recovery is impossible",
                metadata: ["detail": "\(failure)"]
            )
            // The failed attempt is now recorded, so the decision is to discard.
            let again = ResetCause(
                action: cause.action,
                code: cause.code,
                message: cause.message,
                partitionQuery: cause.partitionQuery
            )
            return try await carryOut(try await decide(again, mode), cause, mode, change)
        }
    }

    private func carryOut(
        _ attempt: ResetAttempt,
        _ cause: ResetCause,
        _ mode: ResetMode,
        _ change: ModeSwitch?
    ) async throws -> ResetResult {
        context.resetLogger.notice("client reset", metadata: ["method": "\(attempt.method)"])
        let archive = ResetArchive(
            options: context.options,
            recoveredDirectory: context.recoveredDirectory,
            attempt: attempt,
            cause: cause,
            keepsEarlierRealm: context.delegate?.wantsEarlierRealm ?? false,
            logger: context.resetLogger
        )
        let done = try await retryWhileBusy {
            try await client.carryOutReset(attempt, switching: change) { try archive.keep($0) }
        }
        RealmFile.removeFreshCopy(of: context.options.path)
        for change in done.discarded { log(change) }
        let decision = try await tellDelegate(
            FinishedReset(
                mode: mode,
                didRecover: done.didRecover,
                beforePath: archive.earlierPath,
                discarded: done.discardedByClass,
                exportPath: archive.exportPath(for: done)
            )
        )
        return ResetResult(
            report: done,
            mode: mode,
            exportPath: archive.exportPath(for: done),
            copyPath: archive.copyPath,
            hasSwitched: change != nil,
            decision: decision
        )
    }

    private func log(_ change: DiscardedChange) {
        context.resetLogger.warning(
            "an unsynced change was superseded on the server",
            metadata: [
                "class": "\(change.object.className)", "key": "\(change.object.key.forPeople)",
                "property": "\(change.property?.description ?? "")",
                "reason": "\(change.reason.rawValue)",
            ]
        )
    }

    /// Whether an earlier process ended before the delegate was called after a reset.
    var hasUntoldDelegate: Bool {
        access(RealmFile.earlierPath(of: context.options.path), F_OK) == 0
    }

    /// Calls the delegate after a reset of an earlier process, which ended before it did so.
    func tellOfEarlierReset(_ attempt: ResetAttempt, mode: ResetMode) async throws -> RealmDecision
    {
        let archive = ResetArchive(
            options: context.options,
            recoveredDirectory: context.recoveredDirectory,
            attempt: attempt,
            cause: nil,
            keepsEarlierRealm: true,
            logger: context.resetLogger
        )
        return try await tellDelegate(
            FinishedReset(
                mode: mode,
                didRecover: attempt.method == .recover,
                beforePath: archive.earlierPath,
                discarded: nil,
                exportPath: archive.existingExportPath
            )
        )
    }
}

// MARK: The fresh copy

extension ResetCoordinator {
    /// A transient failure of the fresh copy: a full disk, or another program's lock.
    private struct Obstacle: Error, CustomStringConvertible {
        let description: String
    }

    /// Downloads the server's state beside the realm, without a time limit (client reset, 4).
    ///
    /// - Throws: `ResetFailure.noFreshCopy` if the server refuses, or the file cannot be opened;
    ///   `Obstacle`; `CancellationError`.
    private func downloadFreshCopy(_ change: ModeSwitch?) async throws {
        do {
            try await download(change)
        } catch ResetFailure.noFreshCopy(let reason) {
            // The server may not accept the remains of an interrupted reset any more.
            context.resetLogger.info(
                "fresh copy downloaded again",
                metadata: ["reason": "\(reason)"]
            )
            RealmFile.removeFreshCopy(of: context.options.path)
            try await download(change)
        }
    }

    private func download(_ change: ModeSwitch?) async throws {
        let file = await client.snapshot().file
        let fresh: RealmClient
        do throws(RealmOpener.Failure) {
            fresh = try await context.opener.open(
                context.options,
                appID: context.appID,
                userID: userID,
                freshCopy: copyKind(change, file)
            ) { _ in }
        } catch .realm(let error) where error.kind.isTransient {
            throw Obstacle(description: error.description)
        } catch {
            throw ResetFailure.noFreshCopy(Self.reason(error))
        }
        if change == nil { try await subscribe(fresh) }
        let connection = context.connection(of: fresh)
        let outcome = await withTaskGroup(of: Void.self) {
            group -> Result<SyncOutcome, any Error> in
            group.addTask { try? await connection.run(fresh) }
            group.addTask { await reportProgress(of: fresh) }
            defer { group.cancelAll() }
            do {
                let first = await wait(for: fresh)
                guard case .toFlexible(let record)? = change, case .done = first else {
                    return .success(first)
                }
                // The empty first set has brought the classes.
                try await subscribe(fresh, following: record)
                return .success(await waitForView(of: fresh))
            } catch {
                return .failure(error)
            }
        }
        let sets = await fresh.subscriptions
        await connection.leave(fresh)
        await fresh.close()
        switch try outcome.get() {
        case .done:
            if case .failed(let text)? = sets?.latest.state {
                throw ResetFailure.noFreshCopy("the server rejects the subscriptions: \(text)")
            }
        case .refused(let issue) where issue.isTransient:
            throw Obstacle(description: issue.message)
        case .refused(let issue): throw ResetFailure.noFreshCopy("\(issue.message) [\(issue.code)]")
        case .failed(let reason, _): throw ResetFailure.noFreshCopy(reason)
        case .offline, .loginRequired, .timedOut: throw CancellationError()
        }
    }

    /// Gives the fresh copy the view of the realm's active set (client reset, 10).
    private func subscribe(_ fresh: RealmClient) async throws {
        guard let active = await client.subscriptions?.active else { return }
        do {
            _ = try await fresh.updateSubscriptions(
                [.replaceAll(active.subscriptions.map(\.content))],
                isChecked: false
            )
        } catch {
            await fresh.close()
            throw Obstacle(description: "\(error)")
        }
    }

    /// Subscribes to the objects of the partition in each class that can have them (flexible sync, 16.1).
    private func subscribe(_ fresh: RealmClient, following record: RealmMigration) async throws {
        do {
            let contents = try await fresh.partitionSubscriptions(record)
            guard !contents.isEmpty else { return }
            _ = try await fresh.updateSubscriptions([.replaceAll(contents)], isChecked: false)
        } catch {
            throw Obstacle(description: "\(error)")
        }
    }

    private func copyKind(
        _ change: ModeSwitch?,
        _ file: LocalRealmStatus
    ) -> RealmOpener.FreshCopyKind {
        switch change {
        case .toFlexible?: .init(scope: .subscriptions)
        case .toPartition?: .init(scope: file.migration?.originalScope ?? file.scope)
        case nil: .init(scope: file.scope, migratedPartition: file.migration?.partition)
        }
    }

    /// The change of the kind of sync that a reset is part of; nil for an ordinary reset.
    ///
    /// - Throws: `ResetFailure.flexibleSync` if the server orders one that is not possible.
    private func change(for cause: ResetCause) async throws -> ModeSwitch? {
        let file = await client.snapshot().file
        switch cause.action {
        case .clientReset, .clientResetNoRecovery: return nil
        case .migrateToFlexibleSync:
            guard let query = cause.partitionQuery else {
                throw ResetFailure.flexibleSync("it names no query for the partition's objects")
            }
            guard case .partition(let partition) = file.scope else {
                throw ResetFailure.flexibleSync("the realm holds no partition")
            }
            return .toFlexible(
                RealmMigration(
                    query: Text(query),
                    partition: partition,
                    startedAt: context.now()
                )
            )
        case .revertToPartitionBasedSync:
            if case .partition = file.scope { return nil }
            guard file.migration?.originalScope != nil else {
                throw ResetFailure.flexibleSync("the realm was never one of a partition")
            }
            return .toPartition
        }
    }

    /// Reports progress in steps of a twentieth.
    private func reportProgress(of fresh: RealmClient) async {
        var reported = 0
        for await progress in await fresh.progress(.download, .indefinite) {
            let twentieth = Int(progress.estimate * 20)
            guard twentieth > reported else { continue }
            reported = twentieth
            await report(.downloading(progress.estimate))
        }
    }

    /// A lost network or a busy server is not a failure: the session reconnects automatically.
    private func wait(for fresh: RealmClient) async -> SyncOutcome {
        var outcome = await fresh.wait(for: TransferDirection.allCases, timeout: nil, context.time)
        while !Task.isCancelled {
            switch outcome {
            case .done, .refused, .failed: return outcome
            case .offline, .loginRequired, .timedOut: break
            }
            guard (try? await context.time.sleep(Self.pause)) != nil else { break }
            outcome = await fresh.wait(for: TransferDirection.allCases, timeout: nil, context.time)
        }
        return outcome
    }

    /// Waits until the newest set is complete or rejected.
    private func waitForView(of fresh: RealmClient) async -> SyncOutcome {
        while true {
            let outcome = await wait(for: fresh)
            guard case .done = outcome, await fresh.subscriptions?.latest.progress == .pending,
                (try? await context.time.sleep(.milliseconds(50))) != nil
            else { return outcome }
        }
    }

    private static func reason(_ failure: RealmOpener.Failure) -> String {
        switch failure {
        case .scope(let reason), .directory(let reason): reason
        case .realm(let error): error.description
        }
    }
}
