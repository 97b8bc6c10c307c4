package import Versions

/// The subscription sets of a client file, as far as its session with the server needs them (flexible sync,
/// 5).
package struct SessionSubscriptions: Hashable, Sendable {
    /// The set whose view the file holds.
    package let active: ClientMessage.Query
    /// Whether the active set still waits for the answer to a MARK.
    package let isAwaitingMark: Bool
    /// The sets that the server has not bootstrapped, by ascending version.
    package let pending: [Pending]

    package struct Pending: Hashable, Sendable {
        package let query: ClientMessage.Query
        /// Local history up to here is uploaded before the set's QUERY, later history after it.
        package let snapshotVersion: ClientVersion

        package init(query: ClientMessage.Query, snapshotVersion: ClientVersion) {
            self.query = query
            self.snapshotVersion = snapshotVersion
        }
    }

    package init(
        active: ClientMessage.Query,
        isAwaitingMark: Bool = false,
        pending: [Pending] = []
    ) {
        self.active = active
        self.isAwaitingMark = isAwaitingMark
        self.pending = pending
    }

    /// The next set to send on a connection.
    func next(after version: QueryVersion) -> Pending? {
        pending.first { $0.query.version > version }
    }

    /// Whether the server may send a bootstrap of the version.
    func awaitsBootstrap(of version: QueryVersion) -> Bool {
        active.version == version || pending.contains { $0.query.version == version }
    }

    /// Whether the server may reject the version.
    func mayFail(_ version: QueryVersion) -> Bool {
        pending.contains { $0.query.version == version }
            || (active.version == version && isAwaitingMark)
    }
}
