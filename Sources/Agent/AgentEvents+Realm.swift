import Changesets
import Config
import Control
import LocalRealm
import SyncClient
import SyncProtocol

/// What realms tell, as events.
extension AgentEvents {
    /// The realm is not open, and why.
    func publish(_ failure: RealmSupervisor.Failure, realm: String) {
        publish(
            AgentEvent(
                realm: realm,
                .state(
                    StateFact(state: failure.state, cause: failure.cause, detail: failure.detail)
                )
            )
        )
    }

    func publish(_ news: RealmNews, realm: String, _ opening: OpeningConfiguration) {
        switch news {
        case .phase(.detached, _):
            // Whoever took it off its connection says why.
            break
        case .phase(let phase, let standing):
            let fact = StateFact(phase, standing, opening)
            publish(AgentEvent(realm: realm, .state(fact)))
        case .problem(let problem, let isFatal):
            publish(problem, isFatal: isFatal, realm: realm)
        case .failed(let error):
            publish(
                AgentEvent(
                    realm: realm,
                    .error(ErrorFact(code: error.code, message: error.message, fatal: true))
                )
            )
        case .rejected(let value):
            publish(
                AgentEvent(
                    realm: realm,
                    .rejected(
                        RejectedFact(
                            by: .local,
                            className: value.className.description,
                            key: value.key,
                            property: value.property?.description,
                            reason: value.reason
                        )
                    )
                )
            )
        case .acknowledged(let changesets, let durations):
            // Too frequent for an event: counted only.
            count { totals in
                totals.countUploads(realm: realm, changesets: changesets)
                for duration in durations {
                    totals.countAcknowledgement(realm: realm, seconds: duration / .seconds(1))
                }
            }
        case .integrated(let changesets, let duration, let localVersion):
            publish(
                AgentEvent(
                    realm: realm,
                    .changed(
                        ChangeFact(
                            changesets: changesets,
                            seconds: duration / .seconds(1),
                            localVersion: localVersion
                        )
                    )
                )
            )
        }
    }

    private func publish(_ problem: ServerProblem, isFatal: Bool, realm: String) {
        publish(
            AgentEvent(
                realm: realm,
                .error(
                    ErrorFact(
                        code: "\(problem.code)",
                        message: problem.message,
                        fatal: isFatal,
                        sdkCode: problem.sdkCode(isFatal: isFatal)?.rawValue,
                        logURL: problem.logURL.isEmpty ? nil : problem.logURL
                    )
                )
            )
        )
        guard case .compensated(let rejected, _) = problem.details else { return }
        for update in rejected.updates {
            publish(
                AgentEvent(
                    realm: realm,
                    .rejected(
                        RejectedFact(
                            by: .server,
                            className: update.className,
                            key: update.key?.eventText ?? update.encodedKey,
                            property: nil,
                            reason: update.reason
                        )
                    )
                )
            )
        }
    }
}

extension StateFact {
    init(_ phase: SessionPhase, _ standing: DownloadStanding, _ opening: OpeningConfiguration) {
        var status = RealmStatus(
            name: "",
            path: "",
            app: "",
            user: "",
            partition: "",
            state: .connecting
        )
        status.describe(phase, standing, opening)
        self.init(state: status.state, cause: status.cause, detail: status.detail)
    }
}

extension ObjectKey {
    /// The key as people write it.
    var eventText: String {
        switch self {
        case .null: "null"
        case .int(let value): "\(value)"
        case .string(let text): text.description
        case .objectID(let id): "\(id)"
        case .uuid(let id): "\(id)"
        case .globalKey(let key): "\(key)"
        }
    }
}
