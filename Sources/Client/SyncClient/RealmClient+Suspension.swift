import ClientReset
import Coordination
import LocalRealm
import SyncProtocol
import Versions

/// Back-off of a session after an error, and its return.
extension RealmClient {
    /// Lets a session that an error stopped bind again after the delay.
    func resume(after delay: Duration) {
        resumeAt = time.uptime() + delay
        resumption.raise()
    }

    /// Deactivates the session until a reset has removed the cause.
    func refuse(_ cause: ResetCause) {
        session = nil
        outgoing = .none
        resumeAt = nil
        let issue = SessionIssue(
            kind: .clientReset,
            code: cause.dottedCode,
            message: cause.message,
            sdkCode: .clientReset
        )
        deactivateSession(issue, wanting: cause)
    }

    /// Refuses the session if it may have been uploading, once what came before is done.
    func refuseIfUploading(_ cause: ResetCause) {
        add(.refuseIfUploading(cause))
    }

    /// Whether a captured change is not acknowledged, so that an upload may be in progress.
    var mayBeUploading: Bool {
        let file = store.standing
        return file.acknowledged < file.status.localVersion
    }

    func resumeNow() {
        resumeAt = nil
        guard case .backingOff = phase else { return }
        phase = .connecting()
        session?.resume()
        wakeConnection()
    }

    func resumeWhenDue() async {
        guard let moment = resumeAt,
            (try? await time.sleep(max(.zero, moment - time.uptime()))) != nil,
            // There may be another delay now, which another task waits for.
            resumeAt == moment
        else { return }
        resumeNow()
    }
}
