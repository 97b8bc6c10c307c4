import ClientReset
import LocalRealm
import Logging
import SyncClient
import Versions

/// The realm's state beside its file that outlives the process (interfaces, 2).
struct RealmMemory: Sendable {
    let context: RealmContext

    /// Stores the file's progress in the realm's record.
    ///
    /// Only a version that survives a power cut: a file that lost only unreported versions was not
    /// restored from a backup.
    func remember(_ client: RealmClient, userID: String, partition: String) async {
        let version = await client.durableVersion()
        let snapshot = await client.snapshot()
        let remembered = await rememberedVersion(of: snapshot.file.instance)
        let record = RealmRecord(
            path: context.options.path,
            instance: snapshot.file.instance,
            home: snapshot.file.home,
            appID: context.appID,
            userID: userID,
            partition: partition,
            localVersion: version?.rawValue ?? remembered,
            isFirstDownloadFinished: snapshot.file.isFirstDownloadFinished,
            lastConnected: snapshot.lastConnected,
            lastUploaded: snapshot.lastUploaded,
            lastDownloaded: snapshot.lastDownloaded
        )
        await write { try await context.register.keep(record) }
    }

    private func rememberedVersion(of instance: String) async -> UInt64 {
        guard let record = try? await context.register.record(), record.instance == instance else {
            return 0
        }
        return record.localVersion
    }

    func remember(_ action: FileAction?) async {
        await write { try await context.register.keepFileAction(action) }
    }

    private func write(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            context.logger.error(
                "the register cannot be written",
                metadata: ["detail": "\(error)"]
            )
        }
    }

    /// Returns why the file must not be used: it was restored from a backup, so it would reuse
    /// versions that the server knows already (local realm, 6; sync history, 15).
    func causeOfRestoredFile(_ client: RealmClient) async -> ResetCause? {
        let file = await client.snapshot().file
        guard let record = try? await context.register.record(),
            record.instance == file.instance, record.home == file.home,
            record.localVersion > file.localVersion.rawValue
        else { return nil }
        return ResetCause(
            action: .clientReset,
            code: 0,
            message: "the file is at version \(file.localVersion.rawValue), and was at "
                + "\(record.localVersion): it was put back from a backup",
            origin: .restoredFile
        )
    }

    /// The last transfers that the record knows of; nil if it cannot be read.
    func lastTransfers() async -> SyncedRealmStatus.LastTransfers? {
        do {
            guard let record = try await context.register.record() else { return .init() }
            return SyncedRealmStatus.LastTransfers(
                connected: record.lastConnected,
                uploaded: record.lastUploaded,
                downloaded: record.lastDownloaded
            )
        } catch {
            return nil
        }
    }

    /// Time of the last contact with the server, in milliseconds since 1970; nil if there was none.
    func lastConnected() async -> Int64? {
        try? await context.register.record()?.lastConnected
    }

    func suspension() async -> Suspension? {
        do {
            return try await context.register.suspension()
        } catch {
            context.logger.error(
                "the suspension cannot be read",
                metadata: ["detail": "\(error)"]
            )
            return nil
        }
    }

    func remember(_ suspension: Suspension?) async {
        do {
            try await context.register.keep(suspension)
        } catch {
            context.logger.error(
                "the suspension cannot be stored",
                metadata: ["detail": "\(error)"]
            )
        }
    }
}
