import Changesets
package import Schemas
package import Scopes
package import SyncProtocol
package import Versions

/// What sync sessions ask of the store; each call is one transaction (sync history, 18.1).
package struct SyncEngine: Sendable {
    let store: any ServerStore
    let clock: WallClock
    private let random: RandomSource
    /// Made by this process and kept in memory only: a store that was restored from a backup must not
    /// bring it back, or it would give used version numbers the same salt again (sync history, 17).
    private let versionSalts: VersionSalts
    private let downloadLimitInBytes: Int
    private let snapshots: SnapshotPolicy
    private let merging: MergeLimits
    private let indexes: HistoryIndexes
    private let snapshotBuilder: SnapshotBuilder

    package init(
        store: any ServerStore,
        clock: WallClock,
        random: RandomSource,
        downloadLimitInBytes: Int = 1 << 20,
        snapshots: SnapshotPolicy = SnapshotPolicy(),
        merging: MergeLimits = MergeLimits()
    ) {
        self.store = store
        self.clock = clock
        self.random = random
        self.versionSalts = VersionSalts(random.salt())
        self.downloadLimitInBytes = downloadLimitInBytes
        self.snapshots = snapshots
        self.merging = merging
        self.indexes = HistoryIndexes(store: store)
        self.snapshotBuilder = SnapshotBuilder(store: store, policy: snapshots)
    }

    /// The server file that a session is bound to.
    package struct Opened: Hashable, Sendable {
        package let file: ServerFileID
        /// A new client file, if one was asked for.
        package let assigned: SaltedFileIdent?
        /// The version that the declared schema has made, if the file lacked some of it.
        package let published: ServerVersion?
    }

    /// Finds the file of a partition, or makes it (sync history, 12), with everything in it that the
    /// schema declares. Throws `SessionFault`,
    /// `IntegrationRefusal`, `QuotaExceeded` or `StoreError`.
    package func open(
        _ partition: Partition,
        of app: AppID,
        for user: UserID,
        needsFileIdent: Bool,
        rules: AccessRules = AccessRules(),
        quotas: UserQuotas = .unlimited,
        schema: RealmSchema? = nil
    ) async throws -> Opened {
        let salt = random.salt()
        let now = clock.millisecondsSince1970()
        return try await store.write(for: .user(user)) { [versionSalts] transaction in
            guard try Self.admits(rules.read, user, of: app, to: partition, transaction) else {
                throw SessionFault.permissionDenied
            }
            let known = try transaction.file(of: app, partition)
            if needsFileIdent {
                try quotas.admitClientFile(of: user, in: known?.id, transaction)
            } else if known == nil {
                // Its client has an ident of a realm that is gone, and will be told at IDENT.
                return Opened(file: .none, assigned: nil, published: nil)
            }
            let file = try known ?? transaction.makeFile(of: app, partition)
            var published: ServerVersion?
            if let schema {
                published = try SchemaPublication(
                    transaction: transaction,
                    versionSalts: versionSalts,
                    now: now
                ).publish(schema, in: file.id)
            }
            guard needsFileIdent else {
                return Opened(file: file.id, assigned: nil, published: published)
            }
            let ident = try transaction.takeFileIdent(in: file.id)
            let client = ClientFile(
                ident: ident,
                salt: salt,
                owner: user,
                generation: file.generation,
                lastSeenAt: now
            )
            try transaction.put(client, in: file.id)
            return Opened(
                file: file.id,
                assigned: SaltedFileIdent(ident: ident, salt: salt),
                published: published
            )
        }
    }

    private static func admits(
        _ rule: AccessRule?,
        _ user: UserID,
        of app: AppID,
        to partition: Partition,
        _ snapshot: any StoreSnapshot
    ) throws(StoreError) -> Bool {
        guard let rule else { return true }
        guard let user = try snapshot.user(user, of: app) else { return false }
        return rule.admits(user, to: partition)
    }

    /// Holds an IDENT against what is stored; whoever comes later with the same ident takes over
    /// (sync history, 13). Throws `SessionFault` or `StoreError`.
    package func identify(
        _ ident: ClientMessage.Ident,
        in id: ServerFileID,
        for user: UserID,
        offlineLimitInMilliseconds limit: Int64? = nil
    ) async throws -> ClientFile {
        let now = clock.millisecondsSince1970()
        let (client, outgrown) = try await store.write(for: .user(user)) {
            [snapshots] transaction -> (ClientFile, ServerFile?) in
            guard let file = try transaction.file(id) else {
                // A realm that is not there is an empty one: the checks come in the usual order.
                let claimed = ident.latestServerVersion.version
                try IdentCheck(
                    currentVersion: .zero,
                    file: nil,
                    saltOfLatestVersion: claimed == .zero ? SaltedServerVersion.zero.salt : nil
                ).verify(ident)
                throw SessionFault.badClientFileIdent
            }
            let client = try transaction.clientFile(ident.file.ident, in: id)
            try IdentCheck(
                currentVersion: file.currentVersion,
                file: client.map { client in
                    IdentCheck.KnownFile(
                        salt: client.salt,
                        isOfOlderGeneration: client.generation != file.generation,
                        belongsToUser: client.owner == user,
                        isExpired: client.isExpired
                            || limit.map { now.subtracting(clamping: client.lastSeenAt) > $0 }
                                == true
                            || Self.needsTrimmedHistory(client, ident, file),
                        upload: client.upload
                    )
                },
                saltOfLatestVersion: try Self.salt(
                    of: ident.latestServerVersion.version,
                    in: file,
                    transaction
                )
            ).verify(ident)
            guard var client else { throw SessionFault.badClientFileIdent }
            let begins = client.isUntouched && ident.download == .zero
            let isOutgrown = begins && snapshots.isWorthALook(file)
            if begins, !isOutgrown, let snapshot = file.snapshot {
                client.snapshotVersion = snapshot.version
            }
            client.sessionEpoch += 1
            client.lastSeenAt = now
            try transaction.put(client, in: id)
            return (client, isOutgrown ? file : nil)
        }
        guard let outgrown else { return client }
        // The writer is free again: however long this takes, only this client waits.
        try await snapshotBuilder.refresh(outgrown, at: now)
        return try await beginWithSnapshot(client, in: id)
    }

    /// A client that has seen nothing yet begins with the newest snapshot, if there is one.
    private func beginWithSnapshot(
        _ client: ClientFile,
        in id: ServerFileID
    ) async throws -> ClientFile {
        try await store.write(for: .user(client.owner)) { transaction in
            guard let snapshot = try transaction.file(id)?.snapshot,
                var current = try transaction.clientFile(client.ident, in: id),
                current.isUntouched, current.generation == client.generation,
                // Otherwise another session speaks for it by now, and has done the same.
                current.sessionEpoch == client.sessionEpoch
            else { return client }
            current.snapshotVersion = snapshot.version
            try transaction.put(current, in: id)
            return current
        }
    }

    /// A file that was brought back from a backup may want what it had said it has.
    private static func needsTrimmedHistory(
        _ client: ClientFile,
        _ ident: ClientMessage.Ident,
        _ file: ServerFile
    ) -> Bool {
        let begins = client.upload == .zero && ident.download == .zero
        let start = max(ident.download.serverVersion, client.snapshotVersion)
        return !begins && start < file.baseVersion.version
    }

    private static func salt(
        of version: ServerVersion,
        in file: ServerFile,
        _ transaction: any StoreTransaction
    ) throws(StoreError) -> Salt? {
        version == file.baseVersion.version
            ? file.baseVersion.salt : try transaction.salt(of: version, in: file.id)
    }

    /// Makes an upload part of the history. Throws `IntegrationRefusal`, `QuotaExceeded` or
    /// `StoreError`.
    package func integrate(
        _ upload: Upload,
        into file: ServerFileID,
        policy: SchemaPolicy,
        by user: UserID? = nil,
        rules: AccessRules = AccessRules(),
        quotas: UserQuotas = .unlimited
    ) async throws -> UploadIntegration.Outcome {
        var indexes: HistoryIndexes? = indexes
        var barred: Set<ObjectReference> = []
        for attempt in 1... {
            // A history that grows faster than it is indexed is read as it is.
            if attempt > Self.indexAttempts { indexes = nil }
            do {
                return try await integrate(
                    upload,
                    into: file,
                    policy: policy,
                    by: user,
                    rules: rules,
                    quotas: quotas,
                    indexes: indexes,
                    barring: barred
                )
            } catch let needed as HistoryIndexes.Needed {
                try await indexes?.extend(needed.subject)
            } catch let error as UploadIntegration.ObjectsTooLarge {
                // Those that are barred do not change: these are others.
                guard attempt < Self.indexAttempts, barred.isDisjoint(with: error.objects) else {
                    throw IntegrationRefusal.badChangeset(reason: "objects would be too large")
                }
                barred.formUnion(error.objects)
            }
        }
        preconditionFailure("an upload needs no index where there are none")
    }

    private static let indexAttempts = 5

    private func integrate(
        _ upload: Upload,
        into file: ServerFileID,
        policy: SchemaPolicy,
        by user: UserID?,
        rules: AccessRules,
        quotas: UserQuotas,
        indexes: HistoryIndexes?,
        barring barred: Set<ObjectReference>
    ) async throws -> UploadIntegration.Outcome {
        let now = clock.millisecondsSince1970()
        return try await store.write(for: user.map { .user($0) } ?? .upkeep) {
            [versionSalts, merging] transaction in
            if let user, !upload.changesets.isEmpty {
                try quotas.admitUpload(of: user, transaction)
            }
            var mayWrite = true
            if let rule = rules.write, let user, let known = try transaction.file(file) {
                mayWrite = try Self.admits(
                    rule,
                    user,
                    of: known.app,
                    to: known.partition,
                    transaction
                )
            }
            return try UploadIntegration(
                in: transaction,
                policy: policy,
                mayWrite: mayWrite,
                versionSalts: versionSalts,
                now: now,
                merging: merging,
                indexes: indexes,
                barred: barred
            ).integrate(upload, into: file)
        }
    }

    /// Removes history of the app's files that nobody needs who was seen within the limit.
    /// Those that are connected right now count as seen.
    package func trim(
        _ app: AppID,
        offlineLimitInMilliseconds limit: Int64,
        connected: [(file: ServerFileID, ident: FileIdent)]
    ) async throws {
        let now = clock.millisecondsSince1970()
        let files = try await store.read { try $0.files(of: app) }
        for file in files {
            let present = connected.filter { $0.file == file.id }.map(\.ident)
            try await makeSnapshotForTrimming(file, limit, present, at: now)
            _ = try await store.write(for: .upkeep) { transaction in
                for ident in present {
                    guard var client = try transaction.clientFile(ident, in: file.id) else {
                        continue
                    }
                    client.lastSeenAt = now
                    try transaction.put(client, in: file.id)
                }
                return try HistoryTrimming(
                    transaction: transaction,
                    now: now,
                    offlineLimitInMilliseconds: limit
                ).run(file.id)
            }
        }
    }

    /// Without a newer snapshot nothing more can be trimmed: who comes next would miss what is gone.
    private func makeSnapshotForTrimming(
        _ file: ServerFile,
        _ limit: Int64,
        _ present: [FileIdent],
        at now: Int64
    ) async throws {
        guard snapshots.isWorthALook(file) else { return }
        let end = try await store.read { snapshot in
            try HistoryTrimming.neededByNobody(
                of: file,
                seenWithin: limit,
                at: now,
                present: present,
                snapshot
            )
        }
        guard end > max(file.baseVersion.version, file.snapshot?.version ?? .zero) else { return }
        try await snapshotBuilder.refresh(file, at: now)
    }

    /// What a client may not have heard of because its connection broke: writes that were undone
    /// after the version it has (wire protocol, 13.5).
    package func refusedWrites(
        of client: FileIdent,
        after version: ServerVersion,
        in file: ServerFileID
    ) async throws -> [RefusedWrite] {
        try await store.read { snapshot in
            try snapshot.undoingEntries(of: file, after: version, for: client).map { entry in
                RefusedWrite(
                    Compensation.objects(undoneBy: entry.changeset),
                    in: entry.clientVersion,
                    undoneAt: entry.version.version
                )
            }
        }
    }

    /// Whether the user may still come in by that log-in.
    func isLive(_ session: SessionDigest, of user: SyncUser) async throws -> Bool {
        try await store.read { snapshot in
            guard let known = try snapshot.user(user.id, of: user.app), !known.isDisabled,
                let session = try snapshot.loginSession(session, of: user.app)
            else { return false }
            return !session.isRevoked
        }
    }

    /// Makes every client of the app start over; its objects stay.
    package func terminate(_ app: AppID) async throws {
        let now = clock.millisecondsSince1970()
        try await store.write(for: .upkeep) { [versionSalts] transaction in
            try SyncTermination(
                transaction: transaction,
                versionSalts: versionSalts,
                now: now
            ).run(app)
            try transaction.setSyncState(.terminated, of: app)
        }
    }

    /// Lets one client file start over: its ident means nothing from now on (app services, 12.2). Nil
    /// if there is none.
    package func forget(
        _ ident: FileIdent,
        of app: AppID,
        in partition: Partition
    ) async throws -> ServerFileID? {
        try await store.write { transaction in
            guard let file = try transaction.file(of: app, partition)?.id,
                try transaction.clientFile(ident, in: file) != nil
            else { return nil }
            try transaction.removeClientFile(ident, in: file)
            return file
        }
    }

    /// Collects what comes after the cursor; nil if the client file is gone.
    package func scan(
        for ident: FileIdent,
        from cursor: DownloadCursor,
        in file: ServerFileID
    ) async throws -> DownloadScan.Batch? {
        let scan = DownloadScan(
            softLimitInBytes: downloadLimitInBytes,
            compaction: snapshots
        )
        return try await store.read { try scan.run(for: ident, from: cursor, in: file, of: $0) }
    }
}
