package import AppServices
import LocalRealm
import SyncProtocol

/// The reason why a realm has no session yet.
package struct RealmFailure: Error, Sendable, Equatable {
    package let phase: RealmPhase
    package let cause: RealmCause
    package let detail: String
    package let outcome: SyncResult.Outcome

    static let stopping = Self(
        phase: .offline,
        cause: .byUser,
        detail: "the agent is stopping",
        outcome: .offline
    )

    static let timedOut = Self(
        phase: .waitingForUser,
        cause: .backoff,
        detail: "the realm was not open within the timeout",
        outcome: .timedOut
    )

    var activity: RealmActivity { RealmActivity(phase, cause, detail) }

    var result: SyncResult { SyncResult(outcome, detail: detail) }

    /// The cause of interfaces, 5 as a code.
    var error: RealmError {
        RealmError(
            .opening,
            code: "realm.\(cause.rawValue.replacing("-", with: "_"))",
            sdkCode: phase == .loginRequired ? SDKErrorCode.clientUser.rawValue : nil,
            message: detail,
            isFatal: phase != .waitingForUser
        )
    }
}

extension RealmFailure {
    package init(_ failure: UserSession.Failure) {
        switch failure {
        case .unavailable(let reason):
            self.init(phase: .waitingForUser, cause: .backoff, detail: reason, outcome: .offline)
        case .logInRefused:
            self.init(
                phase: .loginRequired,
                cause: .logInRefused,
                detail: "\(failure.message); check the credential of this user",
                outcome: .loginRequired
            )
        case .anonymousSessionEnded:
            self.init(
                phase: .loginRequired,
                cause: .logInRefused,
                detail: UserSession.Failure.anonymousSessionEndedDetail,
                outcome: .loginRequired
            )
        case .loggedOut:
            self.init(
                phase: .loginRequired,
                cause: .byUser,
                detail: "\(failure.message); `realm-agent users login` logs in again",
                outcome: .loginRequired
            )
        case .storage(let reason):
            self.init(phase: .failed, cause: .inputOutput, detail: reason, outcome: .failed)
        }
    }

    init(_ failure: RealmOpener.Failure) {
        switch failure {
        case .scope(let reason):
            self.init(
                phase: .failed,
                cause: .configuration,
                detail: reason,
                outcome: .configuration
            )
        case .directory(let reason):
            self.init(phase: .failed, cause: .inputOutput, detail: reason, outcome: .failed)
        case .realm(let error):
            self.init(
                phase: .failed,
                cause: error.kind.cause,
                detail: error.description,
                outcome: error.kind.isOfConfiguration ? .configuration : .failed
            )
        }
    }
}
