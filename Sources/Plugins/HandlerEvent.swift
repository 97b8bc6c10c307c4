package import ClientReset

/// Something that happened to a realm, as handlers hear of it (interfaces, 7).
package enum HandlerEvent: Hashable, Sendable {
    case error(SyncErrorReport)
    /// A client reset is about to begin; the file is still as it was.
    case clientResetBefore(reason: String, mode: ResetMode)
    /// A client reset has been carried out; the session comes back when this is handled.
    case clientResetAfter(FinishedReset)
    /// A client reset that the agent cannot carry out by itself.
    case clientResetManual(ManualReset)
    /// The server refused writes, and undid them.
    case writeRejected([RejectedWrite])

    package var kind: String {
        switch self {
        case .error: "error"
        case .clientResetBefore: "client_reset_before"
        case .clientResetAfter: "client_reset_after"
        case .clientResetManual: "client_reset_manual"
        case .writeRejected: "write_rejected"
        }
    }
}

/// What a client reset has done to a realm (client reset, 9).
package struct FinishedReset: Hashable, Sendable {
    package let mode: ResetMode
    /// Whether unsynced changes were recovered rather than discarded.
    package let didRecover: Bool
    /// A read-only copy of the realm as it was; nil if none could be made.
    package let beforePath: String?
    /// How many changes are in the realm no more, by class; nil if that is not known any more.
    package let discarded: [String: Int]?
    /// Where what was discarded is kept as JSON lines; nil if nothing is.
    package let exportPath: String?

    package init(
        mode: ResetMode,
        didRecover: Bool,
        beforePath: String?,
        discarded: [String: Int]?,
        exportPath: String?
    ) {
        self.mode = mode
        self.didRecover = didRecover
        self.beforePath = beforePath
        self.discarded = discarded
        self.exportPath = exportPath
    }
}

/// A client reset that is left to the owner (client reset, 11.2).
package struct ManualReset: Hashable, Sendable {
    /// Why the agent does not carry it out, and the word for that.
    package let code: String
    package let reason: String
    package let originalPath: String
    /// Where the realm is kept when it starts over; nil if starting over would not help.
    package let recoveryPath: String?
    /// Makes the realm start over now rather than with the next start of the agent.
    package let token: String?

    package init(
        code: String,
        reason: String,
        originalPath: String,
        recoveryPath: String?,
        token: String?
    ) {
        self.code = code
        self.reason = reason
        self.originalPath = originalPath
        self.recoveryPath = recoveryPath
        self.token = token
    }
}

/// An error that concerns one realm or its user.
package struct SyncErrorReport: Hashable, Sendable {
    /// A word with dots, as in `docs/errors.md`.
    package let code: String
    /// The number that the Realm SDKs give this error, if they know it.
    package let sdkCode: Int?
    package let message: String
    /// Whether sync of the realm stands still until somebody does something about it.
    package let isFatal: Bool
    /// Where the server keeps its log of what happened.
    package let logURL: String?

    package init(
        code: String,
        sdkCode: Int? = nil,
        message: String,
        isFatal: Bool,
        logURL: String? = nil
    ) {
        self.code = code
        self.sdkCode = sdkCode
        self.message = message
        self.isFatal = isFatal
        self.logURL = logURL
    }
}

/// One write that the server refused.
package struct RejectedWrite: Hashable, Sendable {
    package let className: String
    /// The primary key as Extended JSON.
    package let key: String
    package let reason: String

    package init(className: String, key: String, reason: String) {
        self.className = className
        self.key = key
        self.reason = reason
    }
}
