import Changesets
import ClientReset
import Control
import Plugins
import RealmSync
import Scheduling
import Subscriptions
import Versions

/// Asks the handlers of one realm about its events, and passes their decisions to the engine.
final class RealmHandlers: Sendable {
    private let runner: HandlerRunner
    /// Whether a client reset is abandoned if a handler that runs before it fails.
    private let requiresBefore: Bool
    private let events: AgentEvents
    private let queue = HandlerQueue()

    init(_ runner: HandlerRunner, requiresBefore: Bool, events: AgentEvents) {
        self.runner = runner
        self.requiresBefore = requiresBefore
        self.events = events
    }

    /// Receives an event of the realm; does not block.
    func note(_ event: RealmEvent) {
        HandlerTrigger(event).map(queue.add)
    }

    /// Asks about one event after the other, until the task is cancelled.
    func run(_ realm: SyncedRealm) async {
        for await news in queue.stream {
            let verdict =
                switch news {
                case .error(let report): await runner.handle(report)
                case .rejected(let writes): await runner.handle(writes)
                case .subscriptions(let set): await runner.handle(set)
                }
            guard !Task.isCancelled else { return }
            await realm.follow(
                decision(verdict, about: news.kind),
                mayReset: news.kind == HandlerTrigger.errorKind
            )
        }
    }

    /// Converts a verdict to the engine's decision, and publishes it as an event.
    private func decision(_ verdict: HandlerVerdict, about kind: String) -> RealmDecision {
        guard let plugin = verdict.plugin else { return .continue }
        events.publish(
            AgentEvent(
                realm: runner.subject.realm,
                .plugin(
                    PluginPayload(
                        plugin: plugin,
                        handled: kind,
                        decision: verdict.decision.word,
                        note: verdict.note
                    )
                )
            )
        )
        return RealmDecision(RealmDecision.Action(verdict.decision), by: .plugin(name: plugin))
    }
}

extension RealmHandlers: ResetDelegate {
    var wantsEarlierRealm: Bool { runner.wantsRealmBeforeReset }

    func resetWillBegin(reason: String, mode: ResetMode) async -> ResetConsent {
        let verdict = await runner.resetBegins(reason: reason, mode: mode)
        if requiresBefore, !verdict.failures.isEmpty {
            return .refuse(reason: verdict.failures.joined(separator: "; "))
        }
        switch verdict.decision {
        case .suspend, .stop: return .postpone(decision(verdict, about: "client_reset_before"))
        case .reset(let mode): return .proceed(mode)
        case .discard: return .proceed(.discard)
        case .continue, .retry, .relogin: return .proceed(nil)
        }
    }

    func resetDidFinish(_ reset: FinishedReset) async -> RealmDecision {
        decision(await runner.resetEnded(reset), about: "client_reset_after")
    }

    func resetNeedsDecision(_ reset: ManualReset) async -> RealmDecision {
        decision(await runner.resetNeedsDecision(reset), about: "client_reset_manual")
    }
}

extension RealmDecision.Action {
    init(_ decision: HandlerDecision) {
        self =
            switch decision {
            case .continue: .continue
            case .retry(let pause): .retry(after: pause)
            case .suspend(let until): .suspend(until: until?.millisecondsSince1970)
            case .stop: .stop
            case .relogin: .relogin
            case .reset(let mode): .reset(mode)
            case .discard: .reset(.discard)
            }
    }
}

/// An occurrence that handlers are asked about.
enum HandlerTrigger: Sendable {
    case error(SyncErrorReport)
    case rejected([RejectedWriteSummary])
    case subscriptions(RejectedSubscriptionsSummary)

    static let errorKind = "error"

    /// Nil for events without handlers.
    init?(_ event: RealmEvent) {
        switch event {
        case .error(let error):
            switch error.origin {
            case .server(_, .session), .opening: self = .error(SyncErrorReport(error))
            // A reset asks its own handlers, and those of errors only if there are none (client
            // reset, 2.1 and 11.2). Rejected writes have their own event.
            case .server(_, .reset), .server(_, .rejectedWrites): return nil
            // The realm ends; the code that detects it reports it.
            case .file: return nil
            // A handler's own decision failed: asking again would repeat it.
            case .logIn: return nil
            }
        case .rejected(let writes):
            self = .rejected(
                writes.map {
                    RejectedWriteSummary(className: $0.className, key: $0.key, reason: $0.reason)
                }
            )
        case .subscriptions(let change):
            guard case .failed(let text) = change.state else { return nil }
            self = .subscriptions(
                RejectedSubscriptionsSummary(
                    version: change.version.reported,
                    message: text,
                    subscriptions: change.rejected.map {
                        RejectedSubscriptionsSummary.Entry(
                            name: $0.name?.description,
                            className: $0.className.description,
                            query: $0.query.description
                        )
                    }
                )
            )
        case .activity, .uploaded, .changed, .reset: return nil
        }
    }

    var kind: String {
        switch self {
        case .error: Self.errorKind
        case .rejected: "write_rejected"
        case .subscriptions: "subscriptions_rejected"
        }
    }
}

/// News for handlers, in order. Where they are slower than what happens, the oldest news are lost:
/// the log and the events have them too.
final class HandlerQueue: Sendable {
    let stream: AsyncStream<HandlerTrigger>
    private let continuation: AsyncStream<HandlerTrigger>.Continuation

    init(capacity: Int = 64) {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(capacity))
    }

    func add(_ news: HandlerTrigger) {
        continuation.yield(news)
    }
}

extension SyncErrorReport {
    init(_ error: RealmError) {
        self.init(
            code: error.code,
            sdkCode: error.sdkCode,
            message: error.message,
            isFatal: error.isFatal,
            logURL: error.logURL
        )
    }
}
