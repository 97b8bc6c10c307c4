import ClientReset
import Coordination
import LocalRealm
import Logging
import SyncClient
import Synchronization

/// The client resets of one realm: those that the server demands, and manual ones (client reset,
/// 1).
///
/// At most one runs at a time. `ResetCoordinator` carries a reset out; this type decides when one
/// begins, and handles its result.
final class RealmResets: Sendable {
    let context: RealmContext
    let memory: RealmMemory
    /// Raised when the session may join its connection again, or has to leave it.
    private let conditionsChanged: Signal
    private let state = Mutex(ResetState())

    init(_ context: RealmContext, conditionsChanged: Signal) {
        self.context = context
        self.memory = RealmMemory(context: context)
        self.conditionsChanged = conditionsChanged
    }

    var current: ResetState { state.withLock { $0 } }

    func update<Result: Sendable>(_ change: (inout ResetState) -> Result) -> Result {
        state.withLock { change(&$0) }
    }

    var mode: ResetMode { context.options.reset.mode }

    // MARK: Following the server

    /// Carries out the reset that is needed, if one is.
    func follow(_ client: RealmClient, _ host: some ResetHost) async {
        if let cause = await client.resetCause {
            await reset(client, cause, mode: mode, host)
        } else if let issue = await client.removalIssue {
            await planRemoval(of: client, issue)
        }
    }

    /// Finishes what an earlier process has left of a reset; the client asks for resets from then on.
    func begin(with client: RealmClient, _ host: some ResetHost) async {
        await client.asksForResets()
        await finishEarlierReset(client, host)
    }

    /// An earlier process may have ended after a reset and before all that follows it.
    private func finishEarlierReset(_ client: RealmClient, _ host: some ResetHost) async {
        guard let attempt = try? await client.resetAttempt(), attempt.isSpent else { return }
        RealmFile.removeFreshCopy(of: context.options.path)
        let coordinator = await coordinator(client, host)
        guard coordinator.hasUntoldDelegate, begin() else { return }
        await detachSession(of: client)
        let decision = try? await coordinator.tellOfEarlierReset(attempt, mode: mode)
        await attachSession(of: client, isDone: true)
        await host.followAfterReset(decision ?? .continue)
    }

    /// Resets the realm, and does what follows from how that ends.
    @discardableResult
    func reset(
        _ client: RealmClient,
        _ cause: ResetCause,
        mode: ResetMode,
        _ host: some ResetHost
    ) async -> ResetCoordinator.Outcome {
        guard begin() else { return .interrupted }
        context.resetLogger.warning(
            "client reset started",
            metadata: [
                "code": "\(cause.dottedCode)", "detail": "\(cause.message)",
                "mode": "\(mode.rawValue)",
            ]
        )
        context.events.publish(.reset(.started(mode, reason: cause.message)))
        await detachSession(of: client)
        let outcome = await coordinator(client, host).run(cause, mode: mode)
        switch outcome {
        case .done(let result): await finish(client, result, host)
        case .refused(let failure): await giveUp(client, cause, mode, failure, host)
        case .postponed(let decision):
            context.resetLogger.notice("client reset interrupted", metadata: ["cause": "handler"])
            await host.followAfterReset(decision)
            await attachSession(of: client, isDone: true)
        case .interrupted:
            context.resetLogger.notice("client reset interrupted")
            await attachSession(of: client, isDone: true)
        }
        return outcome
    }

    private func finish(
        _ client: RealmClient,
        _ result: ResetResult,
        _ host: some ResetHost
    ) async {
        let report = result.report
        update { ($0.failure, $0.standing) = (nil, nil) }
        await plan(nil)
        await host.remember(client)
        let discarded = report.discardedByClass.values.reduce(0, +)
        var fields: Logger.Metadata = [
            "recovered": "\(report.didRecover)",
            "changesets": "\(report.recoveredChangesetCount)",
            "discarded": "\(discarded)",
            "rows": "\(report.createdRows + report.updatedRows + report.erasedRows)",
        ]
        if let path = result.keptPath { fields["export"] = "\(path)" }
        context.resetLogger.notice("client reset finished", metadata: fields)
        let summary = ResetEvent.ResetSummary(
            didRecover: report.didRecover,
            discarded: discarded,
            keptPath: result.keptPath
        )
        context.events.publish(.reset(.finished(result.mode, summary)))
        await attachSession(of: client, isDone: true)
        // The session continues on a connection of the other kind.
        if result.hasSwitched { await client.end() }
        await host.followAfterReset(result.decision)
    }

    /// Leaves the realm to its owner: status, event and log report it (client reset, 11).
    private func giveUp(
        _ client: RealmClient,
        _ cause: ResetCause,
        _ mode: ResetMode,
        _ failure: ResetFailure,
        _ host: some ResetHost
    ) async {
        // The caller of a manual reset gets the error, and may decide otherwise.
        let isByHand = cause.origin == .request
        update { state in
            state.failure = failure
            if !isByHand, cause.origin != .server { state.standing = cause }
        }
        if !isByHand {
            await plan(
                failure.isHelpedByStartingOver && !cause.action.isSwitch ? action(failure) : nil
            )
        }
        let planned = current.fileAction
        var fields: Logger.Metadata = ["code": "\(failure.code)", "detail": "\(failure)"]
        if let path = planned?.recoveryPath { fields["recovery_path"] = "\(path)" }
        context.resetLogger.error("client reset left to the owner", metadata: fields)
        context.events.publish(
            .reset(
                .failed(mode, code: failure.code, reason: "\(failure)", planned?.recovery)
            )
        )
        await attachSession(of: client, isDone: false)
        if !isByHand { await consultDelegate(client, cause, failure, host) }
    }

    private func consultDelegate(
        _ client: RealmClient,
        _ cause: ResetCause,
        _ failure: ResetFailure,
        _ host: some ResetHost
    ) async {
        guard let delegate = context.delegate else { return }
        let planned = current.fileAction
        let decision = await delegate.resetNeedsDecision(
            ManualReset(
                code: failure.code,
                reason: "\(failure)",
                originalPath: context.options.path,
                recoveryPath: planned?.recoveryPath,
                token: planned?.token
            )
        )
        guard !Task.isCancelled else { return }
        guard case .reset(let wanted) = decision.action else {
            return await host.followAfterReset(decision)
        }
        let mode = wanted ?? mode
        if mode == .manual { return await startOverOnceClosed(client) }
        await resetAsDecided(client, cause, mode, decision, host)
    }

    /// Carries out the delegate's decision in place of a manual reset, but not in a loop: the
    /// delegate's last reset must have succeeded first.
    private func resetAsDecided(
        _ client: RealmClient,
        _ cause: ResetCause,
        _ mode: ResetMode,
        _ decision: RealmDecision,
        _ host: some ResetHost
    ) async {
        if current.hasFollowedHandler, (try? await client.resetAttempt()) ?? nil != nil {
            context.resetLogger.warning(
                "client reset of a handler skipped: its last one is not proven",
                metadata: ["plugin": "\(decision.plugin)"]
            )
            return
        }
        update { $0.hasFollowedHandler = true }
        await client.asksForResets()
        let request = ResetCause(
            action: cause.action,
            code: cause.code,
            message: cause.message,
            origin: .request,
            partitionQuery: cause.partitionQuery
        )
        await reset(client, request, mode: mode, host)
    }

    // MARK: The session

    /// False if another reset is running.
    func begin() -> Bool {
        update { state in
            guard !state.isRunning else { return false }
            state.isRunning = true
            return true
        }
    }

    private func detachSession(of client: RealmClient) async {
        conditionsChanged.raise()
        await client.beginReset()
        await context.connection(of: client).leave(client)
    }

    private func attachSession(of client: RealmClient, isDone: Bool) async {
        await client.endReset(isDone: isDone)
        update { ($0.isRunning, $0.step) = (false, nil) }
        conditionsChanged.raise()
    }

    func coordinator(_ client: RealmClient, _ host: some ResetHost) async -> ResetCoordinator {
        ResetCoordinator(
            context: context,
            userID: await host.userID ?? "",
            client: client,
            report: { self.note($0) }
        )
    }

    private func note(_ step: ResetStep) {
        let isRunning = update { state in
            if state.isRunning { state.step = step }
            return state.isRunning
        }
        guard isRunning else { return }
        context.events.publish(.reset(.progress(step)))
        var fields: Logger.Metadata = ["step": "\(step.name)"]
        if let fraction = step.fraction { fields["percent"] = "\(Int(fraction * 100))" }
        context.resetLogger.log(
            level: step.fraction == nil ? .info : .debug,
            "client reset step",
            metadata: fields
        )
    }
}
