import ClientReset
import Plugins
import RealmSync

/// The handlers of one realm: asks those that the configuration names for an event.
struct HandlerRunner: Sendable {
    let subject: HandlerSubject
    /// The place of the file; nil: the subject's path.
    var location: RealmLocation?
    let registry: PluginRegistry
    /// Names of the handlers, in the order in which they are asked.
    var onError: [String] = []
    var beforeReset: [String] = []
    var afterReset: [String] = []
    var manualReset: [String] = []

    func handle(_ error: SyncErrorReport) async -> HandlerVerdict {
        await ask(onError, .error(error))
    }

    func handle(_ rejects: [RejectedWriteSummary]) async -> HandlerVerdict {
        await ask(onError, .writeRejected(rejects))
    }

    func handle(_ set: RejectedSubscriptionsSummary) async -> HandlerVerdict {
        await ask(onError, .subscriptionsRejected(set))
    }

    /// Called before a client reset changes the file.
    func resetBegins(reason: String, mode: ResetMode) async -> HandlerVerdict {
        await ask(beforeReset, .clientResetBefore(reason: reason, mode: mode))
    }

    /// A client reset has been carried out, and the session is still away.
    func resetEnded(_ reset: FinishedReset) async -> HandlerVerdict {
        await ask(afterReset, .clientResetAfter(reset))
    }

    /// Runs the handlers of manual client resets or, if there are none, those of errors (features,
    /// R3).
    func resetNeedsDecision(_ reset: ManualReset) async -> HandlerVerdict {
        await ask(manualReset.isEmpty ? onError : manualReset, .clientResetManual(reset))
    }

    /// Whether a handler reads the realm's state from before a reset.
    var wantsRealmBeforeReset: Bool { !afterReset.isEmpty }

    private func ask(_ names: [String], _ event: HandlerEvent) async -> HandlerVerdict {
        guard !names.isEmpty else { return .continue }
        var subject = subject
        if let location { subject.path = location.path }
        return await registry.consult(names, HandlerRequest(event, of: subject))
    }
}
