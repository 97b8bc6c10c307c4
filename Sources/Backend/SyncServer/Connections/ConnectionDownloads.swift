import ServerMetrics
import ServerStore
import Surroundings
import SyncProtocol
import Versions

/// Reads from the store what the sessions of a connection download.
///
/// Runs on the connection's executor, so that nothing happens between a look at a session and its effects.
enum ConnectionDownloads {
    typealias SessionKey = SyncConnection.SessionKey

    static func scan(
        from cursor: DownloadCursor,
        _ session: SessionWork.Session,
        _ key: SessionKey,
        on connection: isolated SyncConnection
    ) async {
        guard let file = session.file, let client = session.client else { return }
        await connection.beginScan()
        defer { connection.endScan() }
        guard !connection.hasEnded else { return }
        do {
            if let settings = connection.app.flexible,
                connection.machine.subProtocol.mode == .flexible
            {
                return try await ConnectionViews.scan(
                    from: cursor,
                    of: client,
                    in: file,
                    settings,
                    key,
                    on: connection
                )
            }
            let mustBeCurrent = connection.machine.coversMark(key)
            let (downloads, app) = (connection.service.downloads, connection.app.id)
            let batch = try await connection.retryWhileAway {
                try await downloads.batch(
                    from: cursor,
                    for: session,
                    of: app,
                    mustBeCurrent: mustBeCurrent
                )
            }
            guard let batch else { throw IntegrationRefusal.unknownClientFile }
            noteSent(batch.progress, key, on: connection)
            connection.work.told(key, batch.progress.latestServerVersion)
            connection.perform(connection.machine.scanned(key, batch.scanned))
        } catch {
            connection.fail(key, error)
        }
    }
}

extension ConnectionDownloads {
    /// Versions that the download does not reach wait from now on, unless the server told of them before.
    static func noteSent(
        _ progress: SyncProgress,
        _ key: SessionKey,
        on connection: isolated SyncConnection
    ) {
        connection.work.grew(
            key,
            to: progress.latestServerVersion.version,
            at: connection.service.clock.millisecondsSince1970()
        )
        connection.work.sent(key, upTo: progress.download.serverVersion)
    }
}

extension DownloadScan.Batch {
    fileprivate var scanned: ServerSession.Scanned {
        ServerSession.Scanned(
            changesets: changesets,
            progress: progress,
            downloadableBytes: downloadableBytes
        )
    }
}
