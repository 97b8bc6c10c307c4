/// What a client reset has done to a realm (client reset, 9).
public struct FinishedReset: Hashable, Sendable {
    public let mode: ResetMode
    /// Whether unsynced changes were recovered rather than discarded.
    public let didRecover: Bool
    /// A read-only copy of the realm as it was; nil if none could be made.
    public let beforePath: String?
    /// How many changes are no longer in the realm, by class; nil if unknown.
    public let discarded: [String: Int]?
    /// Where what was discarded is kept as JSON lines; nil if nothing is.
    public let exportPath: String?

    public init(
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
