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
        case .retry(let pause): await retry(after: pause)
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
        await retry(after: nil)
    }

    /// Tries again now, or after a pause: to log in, to open the file, to connect, and to bind if the server
    /// has refused the realm.
    ///
    /// A refused session binds again no sooner than the app's back-off allows, so that a handler that
    /// always retries does not burden the server.
    private func retry(after pause: Duration?) async {
        let shortest = await isRefused ? retries.next(at: context.time.uptime()) : nil
        if let delay = [pause, shortest].compactMap({ $0 }).max() {
            context.logger.info("retry planned", metadata: ["delay": "\(delay.forPeople)"])
            guard (try? await context.time.sleep(delay)) != nil else { return }
        }
        reconnect()
        // A user, or a reset, may have changed the session meanwhile.
        guard await isRefused else { return }
        // A removal of the file that the refusal demanded; the next refusal would demand it again.
        _ = await resets.forgetFailure()
        wantsNewSession = true
        conditionsChanged.raise()
    }

    /// Whether the server refused the session for a reason other than a client reset.
    private var isRefused: Bool {
        get async {
            guard case .inactive(let issue)? = await client?.snapshot().phase else { return false }
            return issue.kind != .clientReset
        }
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
