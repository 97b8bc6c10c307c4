public import ClientReset

/// The result of a client reset.
public typealias FinishedReset = ClientReset.FinishedReset
/// A client reset that is left to the owner.
public typealias ManualReset = ClientReset.ManualReset

/// Observes the client resets of one realm, and decides about them (client reset, 9).
///
/// The session is detached while a call runs, so a slow call delays this realm only.
public protocol ResetDelegate: Sendable {
    /// Whether ``resetDidFinish(_:)`` needs a copy of the realm's earlier state.
    var wantsEarlierRealm: Bool { get }

    /// Called before a reset replaces the realm's state, which is still unchanged.
    ///
    /// - Parameters:
    ///   - reason: a sentence for people.
    ///   - mode: the configured mode.
    /// - Returns: whether the reset may begin, and in which mode.
    func resetWillBegin(reason: String, mode: ResetMode) async -> ResetConsent

    /// Called after a reset. If the process ends before the call returns, the next process repeats it.
    func resetDidFinish(_ reset: FinishedReset) async -> RealmDecision

    /// Called if a reset cannot be carried out automatically; the realm is unchanged.
    func resetNeedsDecision(_ reset: ManualReset) async -> RealmDecision
}

/// Whether a client reset may begin.
public enum ResetConsent: Sendable, Equatable {
    /// The reset begins in this mode; nil for the configured one.
    case proceed(ResetMode?)
    /// The reset does not begin now: the session continues, and the decision is carried out.
    case postpone(RealmDecision)
    /// The realm needs a manual reset. The reason is a sentence for people.
    case refuse(reason: String)
}
