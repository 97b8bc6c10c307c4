import AppServices
import Changesets
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
            await carryOut(verdict, of: news)
        }
    }

    private func carryOut(_ verdict: HandlerVerdict, of news: HandlerNews) async {
        tell(verdict, of: news)
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
            await logInAnew()
        case .reset, .discard:
            // Errors come before the reset that they call for, which follows its own configuration.
            logger.warning(
                "a handler asked for a client reset, which only handlers of resets can decide on",
                metadata: ["plugin": "\(verdict.plugin ?? "")"]
            )
        }
    }

    private func tell(_ verdict: HandlerVerdict, of news: HandlerNews) {
        guard let plugin = verdict.plugin else { return }
        events.publish(
            AgentEvent(
                realm: configuration.name,
                .plugin(
                    PluginFact(
                        plugin: plugin,
                        handled: news.kind,
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

    private func logInAnew() async {
        do throws(UserSession.Failure) {
            _ = try await user.logOut()
            _ = try await user.logInAgain()
        } catch {
            logger.warning(
                "logging in anew failed",
                metadata: ["detail": "\(Failure(error).detail)"]
            )
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
