package import Versions

/// The rejected writes that a session of the server has to report, and the order of that among its
/// downloads (flexible sync, 11.4).
///
/// A client reports a rejected write once it has integrated, in steady state, the version that undoes
/// it. So its error 231 comes before the DOWNLOAD with that version, errors come in the order of
/// these versions, each once in a session, and a bootstrap waits for all of them.
package struct CompensationOrder: Sendable {
    /// One error 231.
    package struct Compensation: Hashable, Sendable {
        package let rejected: SessionFault.RejectedUpdates
        /// The version of the private entry that undoes the write.
        package let compensatedAt: ServerVersion

        package init(rejected: SessionFault.RejectedUpdates, compensatedAt: ServerVersion) {
            self.rejected = rejected
            self.compensatedAt = compensatedAt
        }

        package var fault: SessionFault { .compensatingWrite(rejected, undoneAt: compensatedAt) }
    }

    /// Of those whose undo the client does not have, in the order of their versions.
    private var waiting: [Compensation] = []
    /// Those, and the ones before it, were sent in this session.
    private var sent = ServerVersion.zero
    /// The server version of the client's download cursor.
    private var cursor: ServerVersion

    /// At IDENT: the client has forgotten the errors whose undo it does not have.
    ///
    /// - Parameters:
    ///   - stored: those on record for the client file, in any order.
    ///   - cursor: the server version that the client has.
    package init(stored: [Compensation], cursor: ServerVersion) {
        self.cursor = cursor
        for compensation in stored { add(compensation) }
    }

    /// Adds a write that was rejected during the session. One on record is not added again.
    package mutating func add(_ compensation: Compensation) {
        guard compensation.compensatedAt > cursor else { return }
        let index =
            waiting.firstIndex { $0.compensatedAt >= compensation.compensatedAt }
            ?? waiting.endIndex
        if index < waiting.endIndex, waiting[index].compensatedAt == compensation.compensatedAt {
            return
        }
        waiting.insert(compensation, at: index)
    }

    /// The errors to send before a steady-state DOWNLOAD that brings the client up to the version;
    /// call it just before that.
    package mutating func errors(beforeDownloadUpTo version: ServerVersion) -> [Compensation] {
        let due = waiting.filter { $0.compensatedAt > sent && $0.compensatedAt <= version }
        sent = max(sent, version)
        return due
    }

    /// A steady-state DOWNLOAD was sent.
    package mutating func didDownload(upTo version: ServerVersion) {
        cursor = max(cursor, version)
        waiting.removeAll { $0.compensatedAt <= version }
    }

    /// The version up to which downloads must be sent in steady state before a bootstrap may begin;
    /// nil: it may begin.
    package var bootstrapWaitsFor: ServerVersion? { waiting.last?.compensatedAt }
}
