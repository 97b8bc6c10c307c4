import ServerMetrics
import ServerStore
import SyncProtocol
import Versions

/// Finds the next DOWNLOAD of a session of partition-based sync: in its own uploads, in the recent history that
/// the sessions of a file share, or in the store.
struct DownloadSource {
    let engine: SyncEngine
    let registry: SessionRegistry
    let meter: ServerMeter

    /// Nil if the client file was removed.
    ///
    /// - Parameter mustBeCurrent: whether it must have everything that others wrote before.
    func batch(
        from cursor: DownloadCursor,
        for session: SessionWork.Session,
        of app: AppID,
        mustBeCurrent: Bool
    ) async throws -> DownloadScan.Batch? {
        guard let file = session.file, let client = session.client else { return nil }
        if !mustBeCurrent {
            // Its own uploads need no look at the store.
            if let batch = session.ownVersions?.batch(from: cursor) { return batch }
            if let batch = try await sharedBatch(from: cursor, session, client, file) {
                return batch
            }
        }
        return try await meter.time({ .scanned(app, seconds: $0) }) {
            try await engine.scan(
                for: client.ident,
                from: cursor,
                in: file,
                guarding: session.told
            )
        }
    }

    private func sharedBatch(
        from cursor: DownloadCursor,
        _ session: SessionWork.Session,
        _ client: ClientFile,
        _ file: ServerFileID
    ) async throws -> DownloadScan.Batch? {
        // Another session of the file is what makes it worth while.
        guard let told = session.told?.newest, told.version == cursor.serverVersion,
            client.snapshotVersion <= told.version, registry.hasSeveralSessions(of: file)
        else { return nil }
        let history = try await registry.recent.history(of: file, after: told) { start in
            try await engine.store.read(
                expecting: RecentHistory.Growth.expectedReads(of: file, after: start)
            ) {
                try RecentHistory.Growth(of: file, after: start, from: $0)
            }
        }
        return history?.batch(
            for: client,
            from: cursor,
            toldOf: told,
            softLimitInBytes: engine.downloadLimitInBytes
        )
    }
}
