import ClientReset
import Config
import Control
import LocalRealm
import Logging
import Platform
import SyncClient

/// Client resets, wished for by the server or by hand (client reset).
extension RealmSupervisor {
    /// Carries out what the server wants, while the client runs.
    func followResets(_ client: RealmClient) async {
        if let attempt = try? await client.resetAttempt(), attempt.isSpent {
            // The program ended after the reset and before this.
            RealmFile.removeFreshCopy(of: configuration.path)
        }
        await client.asksForResets()
        while await client.resetWanted.wait() {
            guard let cause = await client.resetCause else { continue }
            _ = await reset(client, cause, mode: resetMode)
        }
    }

    private func reset(
        _ client: RealmClient,
        _ cause: ResetCause,
        mode: ResetMode
    ) async -> ResetCoordinator.Outcome {
        guard !isResetting else { return .interrupted }
        logger.warning(
            "the realm is reset",
            metadata: [
                "code": "\(cause.code)", "detail": "\(cause.message)", "mode": "\(mode.rawValue)",
            ]
        )
        publish(.started, mode, cause.message)
        await suspendSession(of: client)
        let outcome = await coordinator(client).run(cause, mode: mode)
        switch outcome {
        case .done(let report, let path):
            resetFailure = nil
            logger.notice(
                "client reset finished",
                metadata: [
                    "recovered": "\(report.didRecover)",
                    "changesets": "\(report.recoveredChangesetCount)",
                    "discarded": "\(report.discarded.count)", "export": "\(path ?? "")",
                    "rows": "\(report.createdRows + report.updatedRows + report.erasedRows)",
                ]
            )
            publish(.finished, mode, report.didRecover ? nil : path)
            await resumeSession(of: client, isDone: true)
        case .refused(let failure):
            resetFailure = failure
            logger.error(
                "the realm needs a reset by hand",
                metadata: ["code": "\(failure.code)", "detail": "\(failure)"]
            )
            publish(.failed, mode, "\(failure) [\(failure.code)]")
            await resumeSession(of: client, isDone: false)
        case .interrupted:
            await resumeSession(of: client, isDone: true)
        }
        return outcome
    }

    private func publish(_ stage: ResetFact.Stage, _ mode: ResetMode, _ detail: String?) {
        let fact = ResetFact(stage: stage, mode: mode.rawValue, detail: detail)
        events.publish(AgentEvent(realm: configuration.name, .reset(fact)))
    }

    private func suspendSession(of client: RealmClient) async {
        isResetting = true
        permissionChanged.raise()
        await client.beginReset()
        await connection.leave(client)
    }

    private func resumeSession(of client: RealmClient, isDone: Bool) async {
        await client.endReset(isDone: isDone)
        isResetting = false
        permissionChanged.raise()
    }

    private func coordinator(_ client: RealmClient) -> ResetCoordinator {
        ResetCoordinator(
            configuration: configuration,
            userID: userID ?? "",
            client: client,
            connection: connection,
            opener: opener,
            recoveredDirectory: recoveredDirectory,
            agentVersion: resets.agentVersion,
            time: time,
            now: now,
            logger: logger
        )
    }

    private var resetMode: ResetMode {
        switch configuration.clientReset.mode {
        case .recover: .recover
        case .recoverOrDiscard: .recoverOrDiscard
        case .discard: .discard
        case .manual: .manual
        }
    }

    var recoveredDirectory: String {
        configuration.clientReset.recoveryDirectory ?? resets.recoveredDirectory
    }
}

// MARK: By hand

extension RealmSupervisor {
    /// Resets the realm because somebody wants it, or says what that would do.
    func reset(mode: ResetMode?, isRehearsal: Bool) async throws(ControlError) -> ResetAnswer {
        guard case .running(let client) = stage else {
            throw .resetImpossible(configuration.name, "the realm is not open")
        }
        guard !isResetting else {
            throw .resetImpossible(configuration.name, "a reset is under way")
        }
        let mode = mode ?? resetMode
        guard !isRehearsal else { return try await rehearse(client, mode) }
        guard mode != .manual else { return try await startOver(client) }
        let wanted = await client.resetCause
        let cause = ResetCause(
            action: wanted?.action ?? .clientReset,
            code: wanted?.code ?? 0,
            message: wanted?.message ?? "asked for by hand",
            isRequested: true
        )
        await client.asksForResets()
        switch await reset(client, cause, mode: mode) {
        case .done(let report, let path):
            return ResetAnswer(configuration.name, .done, report, exportPath: path)
        case .refused(let failure):
            throw ControlError(
                code: failure.code,
                message: "\(configuration.name) was not reset: \(failure)",
                remedy: "see docs/client-resets.md; --mode manual keeps a copy and starts over"
            )
        case .interrupted:
            throw .resetImpossible(configuration.name, "the agent is stopping")
        }
    }

    private func rehearse(
        _ client: RealmClient,
        _ mode: ResetMode
    ) async throws(ControlError) -> ResetAnswer {
        isResetting = true
        defer { isResetting = false }
        do {
            let report = try await coordinator(client).rehearse(mode: mode)
            return ResetAnswer(configuration.name, .rehearsed, report, exportPath: nil)
        } catch {
            throw .resetImpossible(configuration.name, "\(error)")
        }
    }

    /// Keeps a copy of the realm, removes it, and downloads everything anew (client reset, 11.3).
    private func startOver(_ client: RealmClient) async throws(ControlError) -> ResetAnswer {
        let copy = RecoveredFile(
            in: recoveredDirectory,
            realm: configuration.name,
            at: WallTime(millisecondsSince1970: now()),
            suffix: ".sqlite"
        )
        do {
            try DataDirectory.prepareRecovered(recoveredDirectory)
            try await client.copy(to: copy.path)
        } catch {
            throw .resetImpossible(configuration.name, "no copy could be made: \(error)")
        }
        removesFile = true
        resetFailure = nil
        await client.end()
        return ResetAnswer(configuration.name, copyPath: copy.path)
    }

    /// Ends the session for good, and opens the realm again.
    func restart() async {
        guard case .running(let client) = stage else {
            attemptNow.raise()
            return
        }
        resetFailure = nil
        await client.end()
    }

    /// Removes the file once it is closed, if that was asked for.
    func removeFileIfWanted() {
        guard removesFile else { return }
        removesFile = false
        RealmFile.remove(configuration.path)
        logger.notice("the realm starts over")
    }
}

/// What all resets of an agent share.
struct ResetSurroundings: Sendable {
    let recoveredDirectory: String
    let agentVersion: String
}
