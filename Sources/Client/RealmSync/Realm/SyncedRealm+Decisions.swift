import AppServices
import ClientReset
import Coordination
import LocalRealm
import Logging
import SyncClient

/// What becomes of decisions: of handlers, of the reset delegate, and of the owner.
extension SyncedRealm {
    /// Does what was decided about an error or a rejected write.
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
                    "a handler asked for a client reset, which only those of errors and of resets can do",
                    metadata: ["plugin": "\(decision.plugin)"]
                )
                return
            }
            await resets.resetAsDecided(client, mode, by: decision.plugin, self)
        }
    }

    func followAfterReset(_ decision: RealmDecision) async {
        await follow(decision, mayReset: false)
    }

    /// Gets a new token, by a log-in where the server refuses to refresh; always for the same user.
    /// An anonymous user can only refresh, and an operator's log-out stands.
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
                .error(RealmError(.file, code: code, message: message, isFatal: false))
            )
        }
        reconnect()
    }

    // MARK: Resets by hand

    /// Resets the realm because its owner wants it, or rehearses that.
    ///
    /// - Parameter mode: nil for the one that is configured.
    package func reset(
        mode: ResetMode?,
        isRehearsal: Bool
    ) async throws(ResetRefusal) -> ResetByHand {
        try await resets.resetByHand(client, mode: mode, isRehearsal: isRehearsal, self)
    }

    /// Keeps the file as a copy and downloads a new one, as an event proposed with this token.
    package func startOver(token: String) async throws(ResetRefusal) -> ResetByHand {
        try await resets.startOver(token: token, self)
    }

    /// Ends the session for good, and opens the realm again; a reset that was left to the owner is tried
    /// again if it is still needed.
    public func restart() async {
        let wasLeftToOwner = await resets.forgetFailure()
        guard let client else {
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

extension UserSession.Failure {
    /// The word of docs/errors.md.
    package var code: String {
        switch self {
        case .unavailable: "auth.unavailable"
        case .logInRefused("auth.pending_uploads", _): "auth.pending_uploads"
        case .logInRefused: "auth.refused"
        case .anonymousSessionEnded: "auth.session_ended"
        case .loggedOut: "auth.logged_out"
        case .storage: "agent.io_error"
        }
    }

    /// For people.
    package var message: String {
        switch self {
        case .unavailable(let reason), .storage(let reason): reason
        case .logInRefused("auth.pending_uploads", let message): message
        case .logInRefused(let code, let message): "\(message) (\(code))"
        case .anonymousSessionEnded:
            "the server ended the session of this anonymous user, who cannot log in again"
        case .loggedOut: "the user was logged out here"
        }
    }
}
