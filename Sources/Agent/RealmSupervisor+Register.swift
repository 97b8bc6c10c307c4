import ClientReset
import Config
import LocalRealm
import Logging
import Scheduling
import SyncClient
import Versions

/// What outlives the process beside the realm file (interfaces, 2).
extension RealmSupervisor {
    ///
    /// Of versions only one that a power cut cannot take back: a file that lost what nobody was told of
    /// is not one that was put back from a backup.
    func remember(_ client: RealmClient) async {
        // Until it is reset, an older state of the file must stay recognisable as such.
        guard resets.standing?.origin != .restoredFile else { return }
        let version = await client.durableVersion()
        let snapshot = await client.snapshot()
        let remembered = await rememberedVersion(of: snapshot.file.instance)
        let record = RealmRecord(
            path: configuration.path,
            instance: snapshot.file.instance,
            home: snapshot.file.home,
            appID: configuration.user.app.appID,
            userID: userID ?? "",
            partition: partition,
            localVersion: version?.rawValue ?? remembered,
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

    private func rememberedVersion(of instance: String) async -> UInt64 {
        guard let record = try? await register.record(), record.instance == instance else {
            return 0
        }
        return record.localVersion
    }

    /// When the last refresh by schedule began that was carried out; nil if none was, or nobody knows.
    func lastRefresh() async -> Instant? {
        let seconds = try? await register.lastRefresh()
        return seconds.flatMap { Instant(plausible: $0) }
    }

    func rememberRefresh(at instant: Instant) async {
        do {
            try await register.keepRefresh(at: instant.secondsSince1970)
        } catch {
            logger.error("the register cannot be written", metadata: ["detail": "\(error)"])
        }
    }

    /// Remembers how far the file is, again and again: an older state of it is recognised by that.
    func keepRemembering(_ client: RealmClient) async {
        var version = await client.snapshot().file.localVersion
        while (try? await time.sleep(.seconds(5))) != nil {
            let current = await client.snapshot().file.localVersion
            guard current != version else { continue }
            version = current
            await remember(client)
        }
    }

    /// Why the file must not go on as it is: it was put back from a backup, so that it would use
    /// versions again that the server knows already (local realm, 6; sync history, 15).
    func causeOfRestoredFile(_ client: RealmClient) async -> ResetCause? {
        let file = await client.snapshot().file
        guard let record = try? await register.record(), record.instance == file.instance,
            record.home == file.home, record.localVersion > file.localVersion.rawValue
        else { return nil }
        return ResetCause(
            action: .clientReset,
            code: 0,
            message: "the file is at version \(file.localVersion.rawValue), and was at "
                + "\(record.localVersion): it was put back from a backup",
            origin: .restoredFile
        )
    }

    /// When the server was last heard of, in milliseconds since 1970; nil if never.
    func lastConnected() async -> Int64? {
        if case .running(let client) = stage, let last = await client.snapshot().lastConnected {
            return last
        }
        return try? await register.record()?.lastConnected
    }
}
