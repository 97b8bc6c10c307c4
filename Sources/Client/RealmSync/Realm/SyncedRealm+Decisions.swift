import AppServices
import ClientReset
import Coordination
import LocalRealm
import Logging
import SyncClient

/// Carries out decisions of handlers, the reset delegate and the owner.
extension SyncedRealm {
    /// Carries out a decision about an error or a rejected write.
    ///
    /// - Parameter mayReset: whether the decision can be a client reset.
    package func follow(_ decision: RealmDecision, mayReset: Bool) async {
        switch decision.action {
        case .continue: break
        case .retry(nil): reconnect()
        case .retry(let pause?):
            guard (try? await context.time.sleep(pause)) != nil else { return }
            reconnect()
        case .suspend(let until): await suspend(until: until, by: decision.author)
        case .stop: await suspend(by: decision.author)
        case .relogin: await renewLogIn()
        case .reset(let mode):
            guard mayReset else {
                context.logger.warning(
                    "client reset of a handler ignored: only for errors and resets",
                    metadata: ["plugin": "\(decision.plugin)"]
                )
                return
            }
            await resets.resetAsDecided(mode, by: decision.plugin, self)
        }
    }

    func followAfterReset(_ decision: RealmDecision) async {
        await follow(decision, mayReset: false)
    }

    /// Gets a new token for the same user, by a log-in if the server refuses to refresh. An
    /// anonymous user can only refresh. After an operator's log-out, does nothing.
    private func renewLogIn() async {
        do throws(UserSession.Failure) {
            _ = try await context.user.refresh()
        } catch {
            let (code, message) = (error.code, error.message)
            context.logger.warning(
                "the log-in cannot be renewed",
                metadata: ["code": "\(code)", "detail": "\(message)"]
            )
            context.events.publish(
                .error(RealmError(.logIn, code: code, message: message, isFatal: false))
            )
        }
        reconnect()
    }

    // MARK: Manual resets

    /// Resets the realm at its owner's request, or previews that.
    ///
    /// - Parameter mode: nil for the configured one.
    package func reset(
        mode: ResetMode?,
        isRehearsal: Bool
    ) async throws(ResetRefusal) -> ResetByHand {
        try await resets.resetByHand(mode: mode, isRehearsal: isRehearsal, self)
    }

    /// Archives the file and downloads a new one, as an event with this token proposed.
    package func startOver(token: String) async throws(ResetRefusal) -> ResetByHand {
        try await resets.startOver(token: token, self)
    }

    /// Ends the session, and opens the realm again. A reset that was left to the owner is retried
    /// if it is still needed.
    public func restart() async {
        let wasLeftToOwner = await resets.forgetFailure()
        guard let client else {
            attemptNow.raise()
            return
        }
        if wasLeftToOwner {
            // A file that cannot be written is reported when it is opened.
            try? await client.forgetReset()
        }
        await client.end()
    }
}
