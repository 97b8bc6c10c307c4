import AppServices
import Changesets
import ClientReset
import Config
import Control
import LocalRealm
import Logging
import Platform
import Plugins
import SyncClient
import SyncProtocol

/// What handlers are told, and what becomes of their decisions.
extension RealmSupervisor {
    /// Asks the handlers about one event after the other, until the task is cancelled.
    func consultHandlers() async {
        guard let handlers else { return }
        for await news in handlerNews.stream {
            let verdict =
                switch news {
                case .error(let report): await handlers.handle(report)
                case .rejected(let writes): await handlers.handle(writes)
                }
            guard !Task.isCancelled else { return }
            await follow(verdict, of: news.kind)
        }
    }

    /// Does what handlers decided about an event of that kind.
    func follow(_ verdict: HandlerVerdict, of kind: String) async {
        tell(verdict, handled: kind)
        switch verdict.decision {
        case .continue:
            break
        case .retry(nil):
            reconnect()
        case .retry(let pause?):
            guard (try? await time.sleep(pause)) != nil else { return }
            reconnect()
        case .suspend(let until):
            await suspend(until: until?.millisecondsSince1970, by: author(of: verdict))
        case .stop:
            await suspend(by: author(of: verdict))
        case .relogin:
            await renewLogIn()
        case .reset(let mode):
            await resetAsDecided(mode, verdict, kind)
        case .discard:
            await resetAsDecided(.discard, verdict, kind)
        }
    }

    /// Whoever was told that a reset is over cannot want another one because of that.
    private func resetAsDecided(_ mode: ResetMode?, _ verdict: HandlerVerdict, _ kind: String) async
    {
        let plugin = verdict.plugin ?? ""
        guard kind == "error" else {
            logger.warning(
                "a handler asked for a client reset, which only those of errors and of resets can do",
                metadata: ["plugin": "\(plugin)", "kind": "\(kind)"]
            )
            return
        }
        await resetAsDecided(mode, by: plugin)
    }

    func tell(_ verdict: HandlerVerdict, handled: String) {
        guard let plugin = verdict.plugin else { return }
        events.publish(
            AgentEvent(
                realm: configuration.name,
                .plugin(
                    PluginFact(
                        plugin: plugin,
                        handled: handled,
                        decision: verdict.decision.word,
                        note: verdict.note
                    )
                )
            )
        )
    }

    private func author(of verdict: HandlerVerdict) -> Suspension.Author {
        .plugin(name: verdict.plugin ?? "")
    }

    /// Gets a fresh token, by a log-in where the server refuses to refresh; always for the same user.
    /// An anonymous user can only refresh, and an operator's log-out stands.
    private func renewLogIn() async {
        do throws(UserSession.Failure) {
            _ = try await user.refresh()
        } catch {
            let failure = ControlError(error, user: configuration.user.name)
            logger.warning(
                "the log-in cannot be renewed",
                metadata: ["code": "\(failure.code)", "detail": "\(failure.message)"]
            )
            let fact = ErrorFact(code: failure.code, message: failure.message, fatal: false)
            events.publish(AgentEvent(realm: configuration.name, .error(fact)))
        }
        reconnect()
    }
}

/// What a realm has to tell its handlers.
enum HandlerNews: Sendable {
    case error(SyncErrorReport)
    case rejected([Plugins.RejectedWrite])

    /// Nil for what is no handler's concern.
    init?(_ news: RealmNews) {
        switch news {
        case .problem(let problem, let isFatal):
            if case .compensated(let rejected, _)? = problem.details {
                self = .rejected(rejected.updates.map(Plugins.RejectedWrite.init))
            } else if ResetCause(problem) != nil {
                // Handlers of resets hear of it, and those of errors only if nobody else does
                // (client reset, 2.1 and 11.2).
                return nil
            } else {
                self = .error(SyncErrorReport(problem, isFatal: isFatal))
            }
        // The realm ends, which is told where that is noticed.
        case .failed: return nil
        case .rejected(let value):
            self = .rejected([
                Plugins.RejectedWrite(
                    className: value.className.description,
                    key: value.key,
                    reason: value.reason
                )
            ])
        case .phase, .acknowledged, .integrated: return nil
        }
    }

    var kind: String {
        switch self {
        case .error: "error"
        case .rejected: "write_rejected"
        }
    }
}

extension Plugins.RejectedWrite {
    init(_ update: RejectedUpdate) {
        self.init(
            className: update.className,
            key: update.key?.eventText ?? update.encodedKey,
            reason: update.reason
        )
    }
}

/// News for handlers, in order. Where they are slower than what happens, the oldest news are lost:
/// the log and the events have them too.
final class HandlerQueue: Sendable {
    let stream: AsyncStream<HandlerNews>
    private let continuation: AsyncStream<HandlerNews>.Continuation

    init(capacity: Int = 64) {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(capacity))
    }

    func add(_ news: HandlerNews) {
        continuation.yield(news)
    }
}

extension SyncErrorReport {
    /// Why a realm is not open: the cause of interfaces, 5 as a code.
    init(_ failure: RealmSupervisor.Failure) {
        self.init(
            code: "realm.\(failure.cause.replacing("-", with: "_"))",
            sdkCode: failure.sdkCode?.rawValue,
            message: failure.detail,
            isFatal: failure.state != .waitingForUser
        )
    }

    /// What the server reports about a realm, with the number of the SDKs (features, E2).
    init(_ problem: ServerProblem, isFatal: Bool) {
        let known = SyncErrorCode(rawValue: problem.code)
        self.init(
            code: "sync.\(known?.name ?? "unknown_error")",
            sdkCode: problem.sdkCode(isFatal: isFatal)?.rawValue,
            message: problem.message,
            isFatal: isFatal,
            logURL: problem.logURL.isEmpty ? nil : problem.logURL
        )
    }
}
