import ClientReset
import Config
import Control
import Coordination
import LocalRealm
import Logging
import Plugins
import SyncClient

/// Client resets that nobody asked for by hand (client reset, 1).
extension RealmSupervisor {
    /// Carries out what is needed, while the client runs.
    func followResets(_ client: RealmClient) async {
        await client.asksForResets()
        await finishEarlierReset(client)
        repeat {
            if let cause = await client.resetCause {
                await reset(client, cause, mode: resetMode)
            } else if let issue = await client.removalIssue {
                await planRemoval(of: client, issue)
            }
        } while await client.resetWanted.wait()
    }

    /// The program may have ended after a reset and before all that follows it.
    private func finishEarlierReset(_ client: RealmClient) async {
        guard let attempt = try? await client.resetAttempt(), attempt.isSpent else { return }
        RealmFile.removeFreshCopy(of: configuration.path)
        let coordinator = coordinator(client)
        guard coordinator.hasUntoldHandlers else { return }
        await suspendSession(of: client)
        let verdict = try? await coordinator.tellOfEarlierReset(attempt, mode: resetMode)
        await resumeSession(of: client, isDone: true)
        await follow(verdict ?? .continue, of: "client_reset_after")
    }

    /// Resets the realm, and does what follows from how that ends.
    @discardableResult
    func reset(
        _ client: RealmClient,
        _ cause: ResetCause,
        mode: ResetMode
    ) async -> ResetCoordinator.Outcome {
        guard !resets.isUnderway else { return .interrupted }
        logger.warning(
            "the realm is reset",
            metadata: [
                "code": "\(cause.code)", "detail": "\(cause.message)", "mode": "\(mode.rawValue)",
            ]
        )
        publish(ResetFact(stage: .started, mode: mode.rawValue, detail: cause.message))
        await suspendSession(of: client)
        let outcome = await coordinator(client).run(cause, mode: mode)
        switch outcome {
        case .done(let result): await finish(client, result)
        case .refused(let failure): await giveUp(client, cause, mode, failure)
        case .putOff(let verdict):
            logger.notice("client reset interrupted", metadata: ["cause": "handler"])
            await follow(verdict, of: "client_reset_before")
            await resumeSession(of: client, isDone: true)
        case .interrupted:
            logger.notice("client reset interrupted")
            await resumeSession(of: client, isDone: true)
        }
        return outcome
    }

    private func finish(_ client: RealmClient, _ result: ResetResult) async {
        let report = result.report
        resets.failure = nil
        resets.standing = nil
        await planFileAction(nil)
        await remember(client)
        logger.notice(
            "client reset finished",
            metadata: [
                "recovered": "\(report.didRecover)",
                "changesets": "\(report.recoveredChangesetCount)",
                "discarded": "\(report.discardedByClass.values.reduce(0, +))",
                "export": "\(result.keptPath ?? "")",
                "rows": "\(report.createdRows + report.updatedRows + report.erasedRows)",
            ]
        )
        var fact = ResetFact(
            stage: .finished,
            mode: result.mode.rawValue,
            detail: result.keptPath
        )
        fact.didRecover = report.didRecover
        fact.discarded = report.discardedByClass.values.reduce(0, +)
        fact.recoveryPath = result.keptPath
        publish(fact)
        await resumeSession(of: client, isDone: true)
        await follow(result.verdict, of: "client_reset_after")
    }

    /// Leaves the realm to its owner, who is told in every way there is (client reset, 11).
    private func giveUp(
        _ client: RealmClient,
        _ cause: ResetCause,
        _ mode: ResetMode,
        _ failure: ResetFailure
    ) async {
        resets.failure = failure
        // Whoever asked by hand is told there, and has something else in mind.
        if cause.origin != .request {
            if cause.origin != .server { resets.standing = cause }
            await planFileAction(failure.isHelpedByStartingOver ? action(failure) : nil)
        }
        logger.error(
            "the realm needs a reset by hand",
            metadata: [
                "code": "\(failure.code)", "detail": "\(failure)",
                "recovery_path": "\(resets.fileAction?.recoveryPath ?? "")",
            ]
        )
        var fact = ResetFact(
            stage: .failed,
            mode: mode.rawValue,
            detail: "\(failure) [\(failure.code)]"
        )
        fact.recoveryPath = resets.fileAction?.recoveryPath
        fact.token = resets.fileAction?.token
        publish(fact)
        await resumeSession(of: client, isDone: false)
        if cause.origin != .request { await askSomebody(client, cause, failure) }
    }

    private func askSomebody(
        _ client: RealmClient,
        _ cause: ResetCause,
        _ failure: ResetFailure
    ) async {
        guard let handlers else { return }
        let verdict = await handlers.resetNeedsSomebody(
            ManualReset(
                code: failure.code,
                reason: "\(failure)",
                originalPath: configuration.path,
                recoveryPath: resets.fileAction?.recoveryPath,
                token: resets.fileAction?.token
            )
        )
        guard !Task.isCancelled else { return }
        switch verdict.decision {
        case .reset(let mode): await resetAsDecided(client, cause, mode ?? resetMode, verdict)
        case .discard: await resetAsDecided(client, cause, .discard, verdict)
        case .continue, .retry, .suspend, .stop, .relogin:
            await follow(verdict, of: "client_reset_manual")
        }
    }

    /// A handler stands in for somebody who asks by hand, but not again and again: the reset that it
    /// decided on must have helped first.
    private func resetAsDecided(
        _ client: RealmClient,
        _ cause: ResetCause,
        _ mode: ResetMode,
        _ verdict: HandlerVerdict
    ) async {
        tell(verdict, handled: "client_reset_manual")
        if mode == .manual {
            return await startOverOnceClosed(client)
        }
        if resets.hasFollowedHandler, (try? await client.resetAttempt()) ?? nil != nil {
            logger.warning(
                "a handler asked for another client reset before the last one has helped",
                metadata: ["plugin": "\(verdict.plugin ?? "")"]
            )
            return
        }
        resets.hasFollowedHandler = true
        await client.asksForResets()
        await reset(
            client,
            ResetCause(
                action: cause.action,
                code: cause.code,
                message: cause.message,
                origin: .request
            ),
            mode: mode
        )
    }
}

// MARK: Its parts

extension RealmSupervisor {
    var resetMode: ResetMode {
        switch configuration.clientReset.mode {
        case .recover: .recover
        case .recoverOrDiscard: .recoverOrDiscard
        case .discard: .discard
        case .manual: .manual
        }
    }

    var recoveredDirectory: String {
        configuration.clientReset.recoveryDirectory ?? surroundings.recoveredDirectory
    }

    func publish(_ fact: ResetFact) {
        events.publish(AgentEvent(realm: configuration.name, .reset(fact)))
    }

    private func suspendSession(of client: RealmClient) async {
        resets.isUnderway = true
        permissionChanged.raise()
        await client.beginReset()
        await connection.leave(client)
    }

    private func resumeSession(of client: RealmClient, isDone: Bool) async {
        await client.endReset(isDone: isDone)
        resets.isUnderway = false
        resets.step = nil
        permissionChanged.raise()
    }

    private func note(_ step: ResetStep) {
        guard resets.isUnderway else { return }
        resets.step = step
        var fact = ResetFact(stage: .progress, detail: step.description)
        fact.step = step.word
        fact.fraction = step.fraction
        publish(fact)
    }

    func coordinator(_ client: RealmClient) -> ResetCoordinator {
        ResetCoordinator(
            configuration: configuration,
            userID: userID ?? "",
            client: client,
            connection: connection,
            opener: opener,
            handlers: handlers,
            recoveredDirectory: recoveredDirectory,
            agentVersion: surroundings.agentVersion,
            time: time,
            now: now,
            report: { await self.note($0) },
            logger: logger
        )
    }
}

/// What all resets of an agent share.
struct ResetSurroundings: Sendable {
    let recoveredDirectory: String
    let agentVersion: String
}
