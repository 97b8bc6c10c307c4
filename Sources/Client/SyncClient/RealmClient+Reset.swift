package import ClientReset
import Coordination
package import LocalRealm
import Logging
import SyncProtocol
import Versions

/// Resets of the realm, as far as its session is concerned (client reset, 1).
extension RealmClient {
    /// Requests resets when they are needed, instead of deactivating the session.
    package func asksForResets() {
        resets.isAutomatic = true
    }

    /// The reset that is needed, if one is.
    package var resetCause: ResetCause? { resets.cause }

    /// The reason why the server demands that the file be removed, if it does.
    package var removalIssue: SessionIssue? { resets.removal }

    /// Requests a reset for a reason that the server does not know.
    package func wantReset(_ cause: ResetCause) {
        resets.cause = cause
        if resets.isAutomatic { resetWanted.raise() }
    }

    /// Stops syncing the realm of an ended session: requests a reset, or fails the waiters.
    func deactivateSession(_ issue: SessionIssue, wanting cause: ResetCause?) {
        phase = .inactive(issue)
        resets.cause = cause
        if resets.isAutomatic, cause != nil {
            resetWanted.raise()
        } else {
            finishWaiters(.refused(issue))
            if resets.removal != nil { resetWanted.raise() }
        }
    }

    /// The attempt that is not proven yet, if there is one.
    package func resetAttempt() async throws(LocalRealmError) -> ResetAttempt? {
        try await store.resetAttempt()
    }

    /// Forgets the last attempt, because the owner has removed its obstacle.
    package func forgetReset() async throws(LocalRealmError) {
        try await store.forgetReset()
    }

    /// Computes what a reset would do, given the fresh copy; changes nothing.
    package func rehearseReset(
        _ method: ResetMethod,
        switching change: ModeSwitch? = nil
    ) async throws -> ResetReport {
        await capture()
        return try await store.rehearseReset(method, change)
    }

    /// Carries the attempt out with the fresh copy; the session must have left its connection.
    ///
    /// - Throws: a `ResetFailure` if the attempt is spent, everything else if it is not.
    package func carryOutReset(
        _ attempt: ResetAttempt,
        switching change: ModeSwitch? = nil,
        beforehand: @escaping @Sendable (ResetReport) throws -> Void
    ) async throws -> ResetReport {
        let report = try await store.carryOutReset(
            attempt,
            switching: change,
            beforehand: beforehand
        )
        resets.cause = nil
        return report
    }

    /// A reset begins: those who wait for a sync wait for what comes after it.
    package func beginReset() {
        resets.isSessionDetached = true
    }

    /// The reset has ended; the session can return. After a failed reset, the server's next error
    /// fails the waiters.
    package func endReset(isDone: Bool) {
        resets.isSessionDetached = false
        resets.cause = nil
        if !isDone { resets.isAutomatic = false }
    }

    /// Ends `run()` without a failure, so that the realm is opened again.
    package func end() {
        ending.raise()
    }

    // MARK: Proof

    /// After a reset the first complete sync shows that it has helped (client reset, 8).
    func expectProof() {
        guard store.standing.isJustReset else { return }
        resets.proof = ResetWatch.Proof(uploadTarget: status.localVersion)
        session?.requestDownloadCompletion()
    }

    func checkProof(downloadCompleted: Bool = false) async {
        guard var proof = resets.proof else { return }
        if downloadCompleted { proof.needsDownload = false }
        resets.proof = proof
        guard !proof.needsDownload, store.standing.acknowledged >= proof.uploadTarget else {
            return
        }
        do throws(LocalRealmError) {
            try await store.forgetReset()
            resets.proof = nil
            logger.notice("client reset proven by a complete sync")
        } catch {
            fail(error)
        }
    }
}
