import ClientReset
import Config
import Control
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
        guard !isRehearsal else { return try await rehearse(client, mode) }
        let wanted = await client.resetCause
        let cause = ResetCause(
            action: wanted?.action ?? .clientReset,
            code: wanted?.code ?? 0,
            message: wanted?.message ?? "asked for by hand",
            origin: .request
        )
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
        _ mode: ResetMode
    ) async throws(ControlError) -> ResetAnswer {
        resets.isUnderway = true
        defer { resets.isUnderway = false }
        do {
            let report = try await coordinator(client).rehearse(mode: mode)
            return ResetAnswer(configuration.name, .rehearsed, report, keptPath: nil)
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

    /// Ends the session for good, and opens the realm again.
    func restart() async {
        await planFileAction(nil)
        resets.failure = nil
        // What was found out about the file is found out again.
        if resets.standing?.origin != .restoredFile { resets.standing = nil }
        guard case .running(let client) = stage else {
            attemptNow.raise()
            return
        }
        await client.end()
    }
}
