/// A reset that has begun and is not yet confirmed by a complete sync (client reset, 8).
///
/// Stored in the realm before anything else of the reset, so that the next attempt knows of it.
package struct ResetAttempt: Hashable, Sendable {
    /// The program version of the attempt: an upgrade gets a new try.
    package var agentVersion: String
    /// Milliseconds since 1970.
    package var startedAt: Int64
    package var method: ResetMethod
    package var action: ResetAction
    package var errorCode: Int
    package var errorText: String
    /// It failed, or was carried out and not confirmed yet: another of its kind would be a cycle.
    ///
    /// Otherwise the program ended in the middle of it, which says nothing about the next time.
    package var isSpent: Bool
    /// The number of earlier crashes during it.
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

/// The cause of a reset.
package struct ResetCause: Hashable, Sendable {
    package let action: ResetAction
    /// The server's error code; 0 if the server has not requested it.
    package let code: Int
    package let message: String
    package let origin: Origin
    /// The query for the objects of the realm's partition, once its app uses flexible sync.
    package let partitionQuery: String?

    /// The origin of a reset request.
    package enum Origin: Hashable, Sendable {
        /// The server, or the end of its connection (client reset, 2.1 and 2.3).
        case server
        /// Requested by a user, who is trusted not to cause a cycle.
        case request
        /// The file is an older state of itself: the server has versions that the file will use
        /// again.
        case restoredFile
        /// Triggers were missing for a while, so that writes may not have been captured
        /// (local realm, 7.4).
        case alteredTables
    }

    package init(
        action: ResetAction,
        code: Int,
        message: String,
        origin: Origin = .server,
        partitionQuery: String? = nil
    ) {
        self.action = action
        self.code = code
        self.message = message
        self.origin = origin
        self.partitionQuery = partitionQuery
    }
}

extension ResetAction {
    /// Whether the app has changed between partition-based and flexible sync.
    package var isSwitch: Bool {
        switch self {
        case .migrateToFlexibleSync, .revertToPartitionBasedSync: true
        case .clientReset, .clientResetNoRecovery: false
        }
    }
}
