import Changesets
import Documents
import Schemas
import ServerStore
import Versions

/// Projects a part of the history onto the view of a client (flexible sync, 8.2).
///
/// Raw instructions of objects that were in the view all the time keep their versions. Every other
/// object that is, or was, in the view comes as it is at the end of the part, in its last version. The
/// result does not depend on where a part ends.
struct ViewScan {
    let settings: FlexibleSettings
    /// The part ends behind the entry that exceeds this.
    let softLimitInBytes: Int
    /// Of changesets that the server makes.
    let now: OriginTimestamp

    /// Reads one state of the store. Nil if the client file no longer exists. Throws `ViewTooLarge`.
    func run(
        for ident: FileIdent,
        from cursor: DownloadCursor,
        in id: ServerFileID,
        of store: any FileReading
    ) throws -> ViewBatch? {
        guard let file = try store.file(id), let client = try store.clientFile(ident, in: id),
            client.generation == file.generation
        else { return nil }
        let schema = try store.schema(of: id)
        let timeline = ViewTimeline(try store.viewEpochs(of: client.ident, in: id), schema)
        let reader = PartReader(client: ident, file: file, store: store)
        var part = try reader.read(after: cursor.serverVersion, limitInBytes: softLimitInBytes)
        var projection = try projection(of: part, cursor, schema, timeline, store)
        if part.end < file.currentVersion,
            try projection.needsFullState(changedAfter: part.end, in: id, store)
        {
            // Only the present state is known: it is the state at the end of the history.
            part = try reader.read(
                after: cursor.serverVersion,
                limitInBytes: settings.views.rangeSizeInBytes
            )
            guard part.end == file.currentVersion else { throw ViewTooLarge() }
            projection = try self.projection(of: part, cursor, schema, timeline, store)
        }
        return try batch(part, projection, schema, cursor, client, file, store)
    }

    private func projection(
        of part: HistoryPart,
        _ cursor: DownloadCursor,
        _ schema: RealmSchema,
        _ timeline: ViewTimeline,
        _ store: any FileReading
    ) throws -> ViewProjection {
        let touches = try Touches(
            of: part.file,
            after: cursor.serverVersion,
            upTo: part.end,
            limitInBytes: settings.views.touchedSizeInBytes,
            store
        )
        return try ViewProjection(
            touches,
            timeline,
            after: cursor.serverVersion,
            upTo: part.end,
            ObjectImages(schema, of: part.file, settings),
            in: part.file
        )
    }

    private func batch(
        _ part: HistoryPart,
        _ projection: ViewProjection,
        _ schema: RealmSchema,
        _ cursor: DownloadCursor,
        _ client: ClientFile,
        _ file: ServerFile,
        _ store: any FileReading
    ) throws -> ViewBatch {
        var changesets: [DownloadChangeset] = []
        var clientVersion = cursor.lastIntegratedClientVersion
        for entry in part.entries {
            if entry.origin == client.ident {
                clientVersion = max(clientVersion, entry.clientVersion)
                continue
            }
            let bytes =
                entry.recipient == nil
                ? try projection.raw(of: entry) : entry.changeset
            guard !bytes.isEmpty else { continue }
            changesets.append(
                DownloadChangeset(
                    cursor: DownloadCursor(
                        serverVersion: entry.version.version,
                        lastIntegratedClientVersion: clientVersion
                    ),
                    originTimestamp: entry.timestamp,
                    originFileIdent: entry.origin == .none ? .server : entry.origin,
                    originalSizeInBytes: UInt64(bytes.count),
                    bytes: bytes
                )
            )
        }
        let end = DownloadCursor(
            serverVersion: part.end,
            lastIntegratedClientVersion: clientVersion
        )
        let isUnit = try projection.appendStates(to: &changesets, at: end, now, schema, store)
        let hasEarlier = changesets.contains { $0.cursor.serverVersion < part.end }
        return ViewBatch(
            changesets: changesets,
            progress: SyncProgress(
                latestServerVersion: try store.newestVersion(of: file),
                download: end,
                upload: client.upload
            ),
            isComplete: part.end == file.currentVersion,
            range: isUnit && hasEarlier
                ? ViewRange(start: cursor.serverVersion, end: part.end) : nil
        )
    }
}
