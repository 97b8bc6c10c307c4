import Versions

/// Whether and how to carry out a reset, given the earlier attempts (client reset, 4 and 8).
package enum ResetDecision: Hashable, Sendable {
    /// Continue with this attempt; store it first.
    case attempt(ResetAttempt)
    /// Leave the file as it is, and ask (client reset, 11).
    case giveUp(ResetFailure)

    /// A program that crashes this often during a reset is assumed to crash because of it.
    package static let crashLimit = 2

    package init(
        mode: ResetMode,
        cause: ResetCause,
        earlier: ResetAttempt?,
        agentVersion: String,
        now: Int64
    ) {
        var method: ResetMethod? = mode == .discard ? .discard : .recover
        var crashCount = 0
        // An app that has changed its kind of sync cannot be asked about first (flexible sync, 16.1).
        let mode = cause.action.isSwitch && mode == .manual ? .recoverOrDiscard : mode
        guard mode != .manual else {
            self = .giveUp(.manualMode)
            return
        }
        if let earlier, earlier.agentVersion == agentVersion, earlier.action == cause.action,
            cause.origin != .request
        {
            crashCount = earlier.isSpent ? 0 : earlier.crashCount.adding(clamping: 1)
            if earlier.isSpent || crashCount > Self.crashLimit {
                method = Self.method(mode, after: earlier.method)
            }
        }
        if case .clientResetNoRecovery = cause.action, method == .recover {
            guard mode == .recoverOrDiscard else {
                self = .giveUp(.recoveryNotPermitted)
                return
            }
            method = .discard
        }
        guard let method else {
            self = .giveUp(.cycle(startedAt: earlier?.startedAt ?? now))
            return
        }
        self = .attempt(
            ResetAttempt(
                agentVersion: agentVersion,
                // A continuation after a crash is the same attempt.
                startedAt: crashCount > 0 ? earlier?.startedAt ?? now : now,
                method: method,
                cause: cause,
                crashCount: crashCount
            )
        )
    }

    /// The next method after a reset that did not help; nil if none is left.
    private static func method(_ mode: ResetMode, after earlier: ResetMethod) -> ResetMethod? {
        switch (earlier, mode) {
        case (.discard, _), (.recover, .recover), (_, .manual): nil
        case (.recover, .recoverOrDiscard), (.recover, .discard): .discard
        }
    }
}
