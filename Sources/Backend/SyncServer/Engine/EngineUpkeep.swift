package import Changesets
package import Scopes
package import ServerStore
import Surroundings
package import Versions

/// The hourly work in the store, and an operator's orders about an app or one of its clients.
package struct EngineUpkeep: Sendable {
    let store: any Store
    let clock: WallClock
    let snapshots: SnapshotPolicy
    let snapshotBuilder: SnapshotBuilder

    // MARK: Trimming

    /// Removes history of the app's files that no client seen within the limit needs. Connected
    /// clients count as seen.
    func trim(
        _ app: AppID,
        offlineLimitInMilliseconds limit: Int64,
        connected: [ClientFileID]
    ) async throws {
        let now = clock.millisecondsSince1970()
        let files = try await store.read { try $0.files(of: app) }
        for file in files {
            let present = connected.filter { $0.file == file.id }.map(\.ident)
            try await makeSnapshotForTrimming(file, limit, present, at: now)
            _ = try await store.write(.file(file.id), for: .upkeep) { transaction in
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

    /// Without a newer snapshot nothing more can be trimmed: new clients need the history.
    private func makeSnapshotForTrimming(
        _ file: ServerFile,
        _ limit: Int64,
        _ present: [FileIdent],
        at now: Int64
    ) async throws {
        // New clients of flexible sync begin with the objects.
        guard file.partition != .flexible, snapshots.isWorthALook(file) else { return }
        let end = try await store.read { snapshot in
            try HistoryTrimming.lastUnneededVersion(
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

    // MARK: Starting over

    /// Makes every client of the app start over; its objects stay.
    package func terminate(_ app: AppID) async throws {
        try await store.write(.app(app), for: .upkeep) { transaction in
            try transaction.beginGeneration(of: app)
            try transaction.setSyncState(.terminated, of: app)
        }
    }

    /// Moves the objects of an app to the files of another mode, and makes every client start over. Returns
    /// the number of objects.
    ///
    /// - Parameter property: the property of each object with the value of its partition.
    ///
    /// Throws `ModeSwitchObstacle` or `StoreError`; then nothing has changed.
    package func switchMode(
        of app: AppID,
        to mode: SyncedMode,
        by property: Text
    ) async throws -> Int {
        try await store.write(.app(app), for: .upkeep) { transaction in
            let count = try ModeSwitch(transaction: transaction, app: app, property: property)
                .run(to: mode)
            try transaction.beginGeneration(of: app)
            // They start over here, not at their next lock: a writer that waits for one of these locks may
            // have read the app's generation already.
            _ = try transaction.files(of: app)
            try transaction.setSyncState(.terminated, of: app)
            return count
        }
    }

    /// Makes one client file start over by voiding its ident (app services, 12.2). Nil if there is
    /// none.
    package func forget(
        _ ident: FileIdent,
        of app: AppID,
        in partition: Partition
    ) async throws -> ServerFileID? {
        try await store.write(.partition(app, partition)) { transaction in
            guard let file = try transaction.file(of: app, partition)?.id,
                try transaction.clientFile(ident, in: file) != nil
            else { return nil }
            try transaction.removeClientFile(ident, in: file)
            return file
        }
    }

    // MARK: Unused files

    /// Unused client files are removed after a day.
    private static let graceInMilliseconds: Int64 = 86_400_000
    private static let atOnce = 200

    /// Removes unused files: client files without any IDENT, and realms without any change. All
    /// clients of such a realm were absent for longer than the offline limit. Each write is about one
    /// file: others are free in between.
    ///
    /// - Parameter connected: files with a session, which count as seen.
    func sweep(
        _ app: AppID,
        offlineLimitInMilliseconds limit: Int64?,
        connected: Set<ServerFileID>
    ) async throws {
        let now = clock.millisecondsSince1970()
        try await removeUnidentifiedClientFiles(of: app, seenBefore: now - Self.graceInMilliseconds)
        let time = limit.map { now - $0 }
        var last: ServerFileID?
        while true {
            let files = try await store.read { [last] snapshot in
                try snapshot.emptyFiles(of: app, seenBefore: time, after: last, limit: Self.atOnce)
            }
            guard let end = files.last else { return }
            for file in files where !connected.contains(file) {
                try await store.write(.file(file), for: .upkeep) { transaction in
                    try transaction.removeIfEmpty(file, seenBefore: time)
                }
            }
            last = end
        }
    }

    private func removeUnidentifiedClientFiles(
        of app: AppID,
        seenBefore time: Int64
    ) async throws {
        while true {
            let unused = try await store.read { snapshot in
                try snapshot.unidentifiedClientFiles(
                    of: app,
                    seenBefore: time,
                    limit: Self.atOnce
                )
            }
            let byFile = Dictionary(grouping: unused, by: \.file)
            for (file, clients) in byFile.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                try await store.write(.file(file), for: .upkeep) { transaction in
                    for client in clients {
                        // One may have been used meanwhile.
                        let record = try transaction.clientFile(client.ident, in: file)
                        guard record?.sessionEpoch == 0 else { continue }
                        try transaction.removeClientFile(client.ident, in: file)
                    }
                }
            }
            guard unused.count == Self.atOnce else { return }
        }
    }

    /// Removes what terminations of sync left, a portion in each transaction.
    package func removeRemains(of app: AppID) async throws {
        var last: ServerFileID?
        while true {
            let files = try await store.read { [last] snapshot in
                try snapshot.filesWithRemains(of: app, after: last, limit: Self.atOnce)
            }
            guard let end = files.last else { return }
            for file in files {
                while try await store.write(
                    .file(file),
                    for: .upkeep,
                    { try $0.removeRemains(of: file) }
                ) {}
            }
            last = end
        }
    }
}
