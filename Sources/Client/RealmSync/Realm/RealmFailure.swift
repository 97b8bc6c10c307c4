package import AppServices
import LocalRealm
import SyncProtocol

/// The reason why a realm has no session yet.
package struct RealmFailure: Error, Sendable, Equatable {
    package let phase: RealmPhase
    package let cause: RealmCause
    package let detail: String
    /// A code of `docs/errors.md`.
    package let code: String
    let sdkCode: SDKErrorCode?
    package let outcome: SyncResult.Outcome

    private init(
        phase: RealmPhase,
        cause: RealmCause,
        detail: String,
        code: String,
        sdkCode: SDKErrorCode? = nil,
        outcome: SyncResult.Outcome
    ) {
        self.phase = phase
        self.cause = cause
        self.detail = detail
        self.code = code
        self.sdkCode = sdkCode
        self.outcome = outcome
    }

    static let stopping = Self(
        phase: .offline,
        cause: .byUser,
        detail: "the agent is stopping",
        code: "agent.stopping",
        outcome: .offline
    )

    static let timedOut = Self(
        phase: .waitingForUser,
        cause: .backoff,
        detail: "the realm was not open within the timeout",
        code: "realm.not_open",
        outcome: .timedOut
    )

    var activity: RealmActivity { RealmActivity(phase, cause, detail) }

    var result: SyncResult { SyncResult(outcome, detail: detail, code: code) }

    var error: RealmError {
        RealmError(
            .opening,
            code: code,
            sdkCode: sdkCode?.rawValue,
            message: detail,
            isFatal: phase != .waitingForUser
        )
    }
}

extension RealmFailure {
    package init(_ failure: UserSession.Failure) {
        let (phase, cause, outcome): (RealmPhase, RealmCause, SyncResult.Outcome) =
            switch failure {
            case .unavailable: (.waitingForUser, .backoff, .offline)
            case .logInRefused, .anonymousSessionEnded:
                (.loginRequired, .logInRefused, .loginRequired)
            case .loggedOut: (.loginRequired, .byUser, .loginRequired)
            case .storage: (.failed, .inputOutput, .failed)
            }
        self.init(
            phase: phase,
            cause: cause,
            detail: "\(failure.message) [\(failure.code)]",
            code: failure.code,
            sdkCode: failure.sdkCode,
            outcome: outcome
        )
    }

    init(_ failure: RealmOpener.Failure) {
        switch failure {
        case .scope(let reason):
            self.init(
                phase: .failed,
                cause: .configuration,
                detail: "\(reason) [config.bad_value]",
                code: "config.bad_value",
                outcome: .configuration
            )
        case .directory(let reason):
            self.init(
                phase: .failed,
                cause: .inputOutput,
                detail: "\(reason) [realm.cannot_open]",
                code: "realm.cannot_open",
                outcome: .failed
            )
        case .realm(let error):
            self.init(
                phase: .failed,
                cause: error.kind.cause,
                detail: "\(error.path): \(error.message) [\(error.code)]",
                code: error.code,
                outcome: error.kind.isOfConfiguration ? .configuration : .failed
            )
        }
    }
}
