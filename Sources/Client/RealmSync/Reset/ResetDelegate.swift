public import ClientReset

/// What a client reset has done to a realm.
public typealias FinishedReset = ClientReset.FinishedReset
/// A client reset that is left to the owner.
public typealias ManualReset = ClientReset.ManualReset

/// Hears of client resets of one realm, and decides about them (client reset, 9).
///
/// The session is off its connection while a call runs, so a slow answer delays the realm, and no other.
public protocol ResetDelegate: Sendable {
    /// Whether ``resetDidFinish(_:)`` wants a copy of the realm as it was before.
    var wantsEarlierRealm: Bool { get }

    /// A reset is about to replace the realm's state, which is still as it was.
    func resetWillBegin(reason: String, mode: ResetMode) async -> ResetConsent

    /// A reset has been carried out. It is called again by the next process if this one ends first.
    func resetDidFinish(_ reset: FinishedReset) async -> RealmDecision

    /// A reset cannot be carried out automatically; the realm is as it was.
    func resetNeedsDecision(_ reset: ManualReset) async -> RealmDecision
}

/// Whether a client reset may begin.
public enum ResetConsent: Sendable, Equatable {
    /// In this mode; nil for the one that is configured.
    case proceed(ResetMode?)
    /// Not now: the session stays as it is, and the decision is carried out.
    case postpone(RealmDecision)
    /// Never automatically; the realm needs a reset by hand.
    case refuse(reason: String)
}
