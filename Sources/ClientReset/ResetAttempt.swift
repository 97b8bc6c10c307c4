/// A reset that was begun and is not yet proven by a complete sync (client reset, 8).
///
/// Stored in the realm before anything else of the reset is, so that the next attempt knows of it.
package struct ResetAttempt: Hashable, Sendable {
    /// The version of the program that made it: an upgrade gets a new try.
    package var agentVersion: String
    /// Milliseconds since 1970.
    package var startedAt: Int64
    package var method: ResetMethod
    package var action: ResetAction
    package var errorCode: Int
    package var errorText: String
    /// It failed, or was carried out and not proven yet: another of its kind would be a cycle.
    ///
    /// Otherwise the program ended in the middle of it, which says nothing about the next time.
    package var isSpent: Bool
    /// How often it was cut short before.
    package var crashCount: Int

    package init(
        agentVersion: String,
        startedAt: Int64,
        method: ResetMethod,
        cause: ResetCause,
        isSpent: Bool = false,
        crashCount: Int = 0
    ) {
        self.agentVersion = agentVersion
        self.startedAt = startedAt
        self.method = method
        self.action = cause.action
        self.errorCode = cause.code
        self.errorText = cause.message
        self.isSpent = isSpent
        self.crashCount = crashCount
    }
}

/// Why a realm is reset: the server's error, or somebody's wish.
package struct ResetCause: Hashable, Sendable {
    package let action: ResetAction
    /// The server's error code; 0 for a wish.
    package let code: Int
    package let message: String
    /// Somebody asked for it by hand, who is trusted not to go in circles.
    package let isRequested: Bool

    package init(action: ResetAction, code: Int, message: String, isRequested: Bool = false) {
        self.action = action
        self.code = code
        self.message = message
        self.isRequested = isRequested
    }
}
