import Config
import LocalRealm
import Logging
import Scheduling
import SyncClient
import Versions

/// What outlives the process beside the realm file (interfaces, 2).
extension RealmSupervisor {
    func remember(_ client: RealmClient) async {
        let snapshot = await client.snapshot()
        let record = RealmRecord(
            path: configuration.path,
            instance: snapshot.file.instance,
            home: snapshot.file.home,
            appID: configuration.user.app.appID,
            userID: userID ?? "",
            partition: partition,
            localVersion: snapshot.file.localVersion.rawValue,
            isFirstDownloadFinished: snapshot.file.isFirstDownloadFinished,
            lastConnected: snapshot.lastConnected,
            lastUploaded: snapshot.lastUploaded,
            lastDownloaded: snapshot.lastDownloaded
        )
        do {
            try await register.keep(record)
        } catch {
            logger.error("the register cannot be written", metadata: ["detail": "\(error)"])
        }
    }

    /// When the last refresh by schedule began that was carried out; nil if none was, or nobody knows.
    func lastRefresh() async -> Instant? {
        let seconds = try? await register.lastRefresh()
        return seconds.map { Instant(secondsSince1970: $0) }
    }

    func rememberRefresh(at instant: Instant) async {
        do {
            try await register.keepRefresh(at: instant.secondsSince1970)
        } catch {
            logger.error("the register cannot be written", metadata: ["detail": "\(error)"])
        }
    }

    /// When the server was last heard of, in milliseconds since 1970; nil if never.
    func lastConnected() async -> Int64? {
        if case .running(let client) = stage, let last = await client.snapshot().lastConnected {
            return last
        }
        return try? await register.record()?.lastConnected
    }
}
