import ServerStore
import Versions

/// The parts of one history that several readers need, if they are so much alike that one page serves all.
struct SharedHistory: Sendable {
    /// Versions between the readers' positions that are worth reading for all.
    private static let versionsApart: UInt64 = 256

    /// The page begins after it.
    let start: ServerVersion
    let readers: [FileIdent]

    /// Nil for a single reader, and for readers that are far from each other.
    init?(_ histories: [ExpectedReads.History]) {
        let positions = histories.map(\.after)
        guard histories.count > 1, let start = positions.min(), let last = positions.max(),
            last.rawValue - start.rawValue <= Self.versionsApart
        else { return nil }
        self.start = start
        self.readers = histories.map(\.reader)
    }
}
