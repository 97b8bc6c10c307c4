import ClientReset
import Control
import RealmSync

/// Events of the engine, as events of the agent.
extension AgentEvents {
    func publish(_ event: RealmEvent, realm: String) {
        switch event {
        case .activity(let activity):
            publish(AgentEvent(realm: realm, .state(StatePayload(activity))))
        case .error(let error):
            ErrorPayload(error).map { publish(AgentEvent(realm: realm, .error($0))) }
        case .rejected(let writes):
            for write in writes {
                publish(AgentEvent(realm: realm, .rejected(RejectedPayload(write))))
            }
        case .subscriptions(let change):
            publish(AgentEvent(realm: realm, .subscription(SubscriptionPayload(change))))
        case .uploaded(let changesets, let durations):
            // Too frequent for an event: counted only.
            count { totals in
                totals.countUploads(realm: realm, changesets: changesets)
                for duration in durations {
                    totals.countAcknowledgement(realm: realm, seconds: duration / .seconds(1))
                }
            }
        case .changed(let changesets, let duration, let localVersion):
            let payload = ChangePayload(
                changesets: changesets,
                seconds: duration / .seconds(1),
                localVersion: localVersion
            )
            publish(AgentEvent(realm: realm, .changed(payload)))
        case .reset(let reset):
            publish(AgentEvent(realm: realm, .reset(ResetPayload(reset))))
        }
    }
}

extension StatePayload {
    init(_ activity: RealmActivity) {
        self.init(
            state: RealmState(activity.phase),
            cause: activity.cause?.rawValue,
            detail: activity.detail
        )
    }
}

extension RealmState {
    init(_ phase: RealmPhase) {
        self =
            switch phase {
            case .waitingForUser: .waitingForUser
            case .connecting: .connecting
            case .progress: .progress
            case .open: .open
            case .suspended: .suspended
            case .paused: .paused
            case .offline: .offline
            case .resetting: .resetting
            case .needsReset: .needsReset
            case .loginRequired: .loginRequired
            case .failed: .failed
            }
    }
}

extension ErrorPayload {
    /// Nil for errors that keep a realm from opening: its state reports them.
    init?(_ error: RealmError) {
        var serverCode: Int?
        switch error.origin {
        case .opening: return nil
        case .server(let number, _): serverCode = number
        case .file, .logIn: break
        }
        self.init(
            code: error.code,
            message: error.message,
            fatal: error.isFatal,
            sdkCode: error.sdkCode,
            serverCode: serverCode,
            logURL: error.logURL
        )
    }
}

extension RejectedPayload {
    init(_ write: RealmRejection) {
        self.init(
            by: write.side == .local ? .local : .server,
            className: write.className,
            key: write.key,
            property: write.property,
            reason: write.reason
        )
    }
}

extension ResetPayload {
    init(_ event: ResetEvent) {
        switch event {
        case .required(let reason, let recovery):
            self.init(stage: .required, mode: ResetMode.manual.rawValue, detail: reason)
            (recoveryPath, token) = (recovery.path, recovery.token)
        case .started(let mode, let reason):
            self.init(stage: .started, mode: mode.rawValue, detail: reason)
        case .progress(let step):
            self.init(stage: .progress, detail: step.description)
            (self.step, fraction) = (step.name, step.fraction)
        case .finished(let mode, let summary):
            self.init(stage: .finished, mode: mode.rawValue, detail: summary.keptPath)
            (didRecover, discarded) = (summary.didRecover, summary.discarded)
            recoveryPath = summary.keptPath
        case .failed(let mode, let code, let reason, let recovery):
            self.init(stage: .failed, mode: mode.rawValue, detail: "\(reason) [\(code)]")
            (recoveryPath, token) = (recovery?.path, recovery?.token)
        case .startedOver(let mode, let reason, let copyPath):
            self.init(stage: .startedOver, mode: mode?.rawValue, detail: reason)
            recoveryPath = copyPath
        }
    }
}
