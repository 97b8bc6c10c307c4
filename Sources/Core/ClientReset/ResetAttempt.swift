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

/// Why a realm is reset.
package struct ResetCause: Hashable, Sendable {
    package let action: ResetAction
    /// The server's error code; 0 where the server has not asked.
    package let code: Int
    package let message: String
    package let origin: Origin

    /// Who says that a reset is needed.
    package enum Origin: Hashable, Sendable {
        /// The server, or the end of its connection (client reset, 2.1 and 2.3).
        case server
        /// Somebody asked for it by hand, who is trusted not to go in circles.
        case request
        /// The file is an older state of itself: the server knows versions that it will use again.
        case restoredFile
        /// Triggers were missing for a while, so that writes may not have been captured
        /// (local realm, 7.4).
        case alteredTables
    }

    package init(action: ResetAction, code: Int, message: String, origin: Origin = .server) {
        self.action = action
        self.code = code
        self.message = message
        self.origin = origin
    }
}
