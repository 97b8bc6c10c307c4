import ClientReset
import Config
import Control
import Coordination
import LocalRealm
import Logging
import Platform
import Plugins
import SyncClient

/// Client resets that somebody asks for.
extension RealmSupervisor {
    /// Resets the realm because somebody wants it, or says what that would do.
    func reset(mode: ResetMode?, isRehearsal: Bool) async throws(ControlError) -> ResetAnswer {
        let mode = mode ?? resetMode
        if mode == .manual, !isRehearsal { return try await startOver() }
        guard case .running(let client) = stage else {
            throw .resetImpossible(configuration.name, "the realm is not open")
        }
        guard !resets.isUnderway else {
            throw .resetImpossible(configuration.name, "a reset is under way")
        }
        let wanted = await client.resetCause ?? resets.standing
        let cause = ResetCause(
            action: wanted?.action ?? .clientReset,
            code: wanted?.code ?? 0,
            message: wanted?.message ?? "asked for by hand",
            origin: .request
        )
        guard !isRehearsal else { return try await rehearse(client, cause, mode) }
        await client.asksForResets()
        switch await reset(client, cause, mode: mode) {
        case .done(let result):
            return ResetAnswer(
                configuration.name,
                .done,
                result.report,
                keptPath: result.keptPath
            )
        case .refused(let failure):
            throw ControlError(
                code: failure.code,
                message: "\(configuration.name) was not reset: \(failure)",
                remedy: "see docs/client-resets.md; --mode manual keeps a copy and starts over"
            )
        case .putOff(let verdict):
            throw .resetImpossible(
                configuration.name,
                "the handler \(verdict.plugin ?? "") put it off"
            )
        case .interrupted:
            throw .resetImpossible(configuration.name, "the agent is stopping")
        }
    }

    private func rehearse(
        _ client: RealmClient,
        _ cause: ResetCause,
        _ mode: ResetMode
    ) async throws(ControlError) -> ResetAnswer {
        guard mode != .manual else {
            return ResetAnswer(
                startOverOf: configuration.name,
                wouldKeepCopyIn: recoveredDirectory
            )
        }
        resets.isUnderway = true
        defer { resets.isUnderway = false }
        do {
            let (report, obstacle) = try await coordinator(client).rehearse(cause, mode: mode)
            let isKept = configuration.clientReset.exportsDiscarded && !report.didRecover
            var answer = ResetAnswer(
                configuration.name,
                .rehearsed,
                report,
                keptPath: isKept ? recoveredDirectory : nil
            )
            answer.reason = obstacle?.description
            return answer
        } catch let failure as ResetFailure {
            throw ControlError(
                code: failure.code,
                message: "a reset of \(configuration.name) would be left to you: \(failure)",
                remedy: "see docs/client-resets.md; --mode manual keeps a copy and starts over"
            )
        } catch {
            throw .resetImpossible(configuration.name, "\(error)")
        }
    }

    /// Carries out the decision of a handler of errors. Nobody has looked at what the last reset came
    /// to, so the same reset again counts as one of a circle.
    func resetAsDecided(_ mode: ResetMode?, by plugin: String) async {
        guard case .running(let client) = stage, !resets.isUnderway else {
            logger.warning(
                "a handler asked for a client reset, which is not possible now",
                metadata: ["plugin": "\(plugin)"]
            )
            return
        }
        let mode = mode ?? resetMode
        let wanted = await client.resetCause
        let cause = ResetCause(
            action: wanted?.action ?? .clientReset,
            code: wanted?.code ?? 0,
            message: wanted?.message ?? "the handler \(plugin) decided on it"
        )
        guard mode != .manual else {
            await planFileAction(action(.manualMode))
            return await startOverOnceClosed(client)
        }
        await reset(client, cause, mode: mode)
    }

    /// Ends the session for good, and opens the realm again; a reset that was left to the owner is tried
    /// again if it is still needed.
    func restart() async {
        await planFileAction(nil)
        let wasLeftToOwner = resets.failure != nil
        resets.failure = nil
        // What was found out about the file is found out again.
        if resets.standing?.origin != .restoredFile { resets.standing = nil }
        guard case .running(let client) = stage else {
            attemptNow.raise()
            return
        }
        if wasLeftToOwner {
            // A file that cannot be written says so when it is opened.
            try? await client.forgetReset()
        }
        await client.end()
    }
}
