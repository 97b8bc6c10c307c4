/// The result of a client reset (client reset, 9).
public struct FinishedReset: Hashable, Sendable {
    public let mode: ResetMode
    /// Whether unsynced changes were recovered rather than discarded.
    public let didRecover: Bool
    /// A read-only copy of the realm as it was; nil if none could be made.
    public let beforePath: String?
    /// The number of discarded changes, by class; nil if unknown.
    public let discarded: [String: Int]?
    /// The file of discarded changes as JSON lines; nil if there is none.
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
