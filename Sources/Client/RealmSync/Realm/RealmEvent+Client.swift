import Changesets
import ClientReset
import LocalRealm
import SyncClient
import SyncProtocol

extension RealmEvent {
    /// Converts a client's event to public ones; each rejected write has its own.
    static func events(of news: RealmClientEvent, _ open: OpenOptions) -> [RealmEvent] {
        switch news {
        // The part that detached the session reports the reason.
        case .phase(.detached, _): []
        case .phase(let phase, let standing):
            [.activity(RealmActivity(phase, standing, open))]
        case .problem(let problem, let isFatal):
            [.error(RealmError(problem, isFatal: isFatal))] + rejections(problem)
        case .failed(let error):
            [.error(RealmError(.file, code: error.code, message: error.message, isFatal: true))]
        case .rejected(let value):
            [
                .rejected([
                    RealmRejection(
                        .local,
                        className: value.className.description,
                        key: value.key,
                        property: value.property?.description,
                        reason: value.reason
                    )
                ])
            ]
        case .subscriptions(let change): [.subscriptions(change)]
        case .acknowledged(let changesets, let durations):
            [.uploaded(changesets: changesets, after: durations)]
        case .integrated(let changesets, let duration, let localVersion):
            [.changed(changesets: changesets, duration: duration, localVersion: localVersion)]
        }
    }

    private static func rejections(_ problem: ServerProblem) -> [RealmEvent] {
        guard case .compensated(let rejected, _)? = problem.details else { return [] }
        return [
            .rejected(
                rejected.updates.map { update in
                    RealmRejection(
                        .server,
                        className: update.className,
                        key: update.key?.forPeople ?? update.encodedKey,
                        reason: update.reason
                    )
                }
            )
        ]
    }
}

extension RealmError {
    /// A server error with its number in the SDKs (features, E2).
    init(_ problem: ServerProblem, isFatal: Bool) {
        var concern = RealmError.Concern.session
        if case .compensated? = problem.details {
            concern = .rejectedWrites
        } else if ResetCause(problem) != nil {
            concern = .reset
        }
        self.init(
            .server(number: problem.code, concern),
            code: problem.dottedCode,
            sdkCode: problem.sdkCode(isFatal: isFatal)?.rawValue,
            message: problem.message,
            isFatal: isFatal,
            logURL: problem.logURL.isEmpty ? nil : problem.logURL
        )
    }
}
