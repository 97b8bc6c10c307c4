import Changesets
package import SyncProtocol
package import Versions

/// What sync sessions ask of the store; each call is one transaction (sync history, 18.1).
package struct SyncEngine: Sendable {
    private let store: any ServerStore
    private let clock: WallClock
    private let random: RandomSource
    /// Made by this process and kept in memory only: a store that was restored from a backup must not
    /// bring it back, or it would give used version numbers the same salt again (sync history, 17).
    private let versionSalt: Salt
    private let downloadLimitInBytes: Int

    package init(
        store: any ServerStore,
        clock: WallClock,
        random: RandomSource,
        downloadLimitInBytes: Int = 1 << 20
    ) {
        self.store = store
        self.clock = clock
        self.random = random
        self.versionSalt = random.salt()
        self.downloadLimitInBytes = downloadLimitInBytes
    }

    /// The server file that a session is bound to.
    package struct Opened: Hashable, Sendable {
        package let file: ServerFileID
        /// A new client file, if one was asked for.
        package let assigned: SaltedFileIdent?
    }

    /// Finds the file of a partition, or makes it (sync history, 12).
    package func open(
        _ partition: Partition,
        of app: AppID,
        for user: UserID,
        needsFileIdent: Bool
    ) async throws -> Opened {
        let salt = random.salt()
        let now = clock.millisecondsSince1970()
        return try await store.write { transaction in
            let file = try transaction.makeFile(of: app, partition)
            guard needsFileIdent else { return Opened(file: file.id, assigned: nil) }
            let ident = try transaction.takeFileIdent(in: file.id)
            let client = ClientFile(
                ident: ident,
                salt: salt,
                owner: user,
                generation: file.generation,
                lastSeenAt: now
            )
            try transaction.put(client, in: file.id)
            return Opened(file: file.id, assigned: SaltedFileIdent(ident: ident, salt: salt))
        }
    }

    /// Holds an IDENT against what is stored; whoever comes later with the same ident takes over
    /// (sync history, 13). Throws `SessionFault` or `StoreError`.
    package func identify(
        _ ident: ClientMessage.Ident,
        in id: ServerFileID,
        for user: UserID
    ) async throws -> ClientFile {
        let now = clock.millisecondsSince1970()
        return try await store.write { transaction in
            guard let file = try transaction.file(id) else { throw SessionFault.badClientFileIdent }
            var client = try transaction.clientFile(ident.file.ident, in: id)
            try IdentCheck(
                currentVersion: file.currentVersion,
                file: client.map { client in
                    IdentCheck.KnownFile(
                        salt: client.salt,
                        isOfOlderGeneration: client.generation != file.generation,
                        belongsToUser: client.owner == user,
                        isExpired: client.isExpired,
                        upload: client.upload
                    )
                },
                saltOfLatestVersion: try Self.salt(
                    of: ident.latestServerVersion.version,
                    in: file,
                    transaction
                )
            ).verify(ident)
            client?.sessionEpoch += 1
            client?.lastSeenAt = now
            guard let client else { throw SessionFault.badClientFileIdent }
            try transaction.put(client, in: id)
            return client
        }
    }

    private static func salt(
        of version: ServerVersion,
        in file: ServerFile,
        _ transaction: any StoreTransaction
    ) throws(StoreError) -> Salt? {
        version == file.baseVersion.version
            ? file.baseVersion.salt : try transaction.salt(of: version, in: file.id)
    }

    /// Makes an upload part of the history. Throws `IntegrationRefusal` or `StoreError`.
    package func integrate(
        _ upload: Upload,
        into file: ServerFileID,
        policy: SchemaPolicy
    ) async throws -> UploadIntegration.Outcome {
        let now = clock.millisecondsSince1970()
        return try await store.write { [versionSalt] transaction in
            try UploadIntegration(
                in: transaction,
                policy: policy,
                versionSalt: versionSalt,
                now: now
            ).integrate(upload, into: file)
        }
    }

    /// Makes every client of the app start over; its objects stay.
    package func terminate(_ app: AppID) async throws {
        let now = clock.millisecondsSince1970()
        try await store.write { [versionSalt] transaction in
            try SyncTermination(
                transaction: transaction,
                versionSalt: versionSalt,
                now: now
            ).run(app)
            try transaction.setSyncState(.terminated, of: app)
        }
    }

    /// Collects what comes after the cursor; nil if the client file is gone.
    package func scan(
        for ident: FileIdent,
        from cursor: DownloadCursor,
        in file: ServerFileID
    ) async throws -> DownloadScan.Batch? {
        let scan = DownloadScan(softLimitInBytes: downloadLimitInBytes)
        return try await store.read { try scan.run(for: ident, from: cursor, in: file, of: $0) }
    }
}
