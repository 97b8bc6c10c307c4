/// A client reset that is left to the owner (client reset, 11.2).
public struct ManualReset: Hashable, Sendable {
    /// The error code for why it is not carried out.
    public let code: String
    public let reason: String
    public let originalPath: String
    /// The path of the realm's copy if it starts over; nil if starting over would not help.
    public let recoveryPath: String?
    /// Makes the realm start over now rather than when the process starts next.
    public let token: String?

    public init(
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
