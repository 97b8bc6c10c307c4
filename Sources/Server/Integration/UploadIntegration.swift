import Changesets
import Documents
import Merge
import Schemas
package import Versions

/// Makes an upload part of a server file: merged with what the client had not seen, applied to the
/// objects, appended to the history, all in the caller's transaction (sync history, 14.4).
///
/// Whatever is sent again is recognised by its client version and left out, so the same upload may
/// come any number of times.
package struct UploadIntegration {
    let transaction: any StoreTransaction
    let policy: SchemaPolicy
    /// Whether the user may change objects; schema changes are the policy's matter.
    let mayWrite: Bool
    /// Marks every version that this process makes (sync history, 17).
    let versionSalts: VersionSalts
    /// Milliseconds since 1970.
    let now: Int64
    let merging: MergeLimits
    private let indexes: HistoryIndexes?
    private let isDocumentSizeLimited: Bool
    /// What the upload changes of these is left out.
    private let barred: Set<ObjectReference>

    /// Objects that would be larger than allowed. The transaction must be given up; with them barred the
    /// upload can be tried again.
    struct ObjectsTooLarge: Error {
        let objects: Set<ObjectReference>
    }

    package init(
        in transaction: any StoreTransaction,
        policy: SchemaPolicy,
        mayWrite: Bool = true,
        versionSalts: VersionSalts,
        now: Int64
    ) {
        self.init(
            in: transaction,
            policy: policy,
            mayWrite: mayWrite,
            versionSalts: versionSalts,
            now: now,
            merging: MergeLimits(),
            indexes: nil
        )
    }

    /// With `indexes`, `HistoryIndexes.Needed` may be thrown, and nothing was done. With `barred`,
    /// `ObjectsTooLarge` may be.
    init(
        in transaction: any StoreTransaction,
        policy: SchemaPolicy,
        mayWrite: Bool,
        versionSalts: VersionSalts,
        now: Int64,
        merging: MergeLimits,
        indexes: HistoryIndexes?,
        barred: Set<ObjectReference>? = nil
    ) {
        self.transaction = transaction
        self.policy = policy
        self.mayWrite = mayWrite
        self.versionSalts = versionSalts
        self.now = now
        self.merging = merging
        self.indexes = indexes
        self.isDocumentSizeLimited = barred != nil
        self.barred = barred ?? []
    }

    /// What a client needs to be told, and the others woken up for.
    package struct Outcome: Hashable, Sendable {
        package let currentVersion: ServerVersion
        package let integratedCount: Int
        /// Writes that were undone; the client must hear of each before it gets the version.
        package let refused: [RefusedWrite]
        /// What did not fit, and was left out.
        package let healing: Healing
    }

    /// Throws `IntegrationRefusal` or `StoreError`; the transaction must then be given up.
    package func integrate(_ upload: Upload, into id: ServerFileID) throws -> Outcome {
        guard let file = try transaction.file(id),
            var client = try transaction.clientFile(upload.client, in: id),
            client.generation == file.generation
        else { throw IntegrationRefusal.unknownClientFile }
        guard !client.isExpired else { throw IntegrationRefusal.expired }
        guard client.sessionEpoch == upload.sessionEpoch else {
            throw IntegrationRefusal.superseded
        }

        let remaining = upload.changesets.filter {
            $0.cursor.clientVersion > client.upload.clientVersion
        }
        try check(remaining, upload.progress, of: client, in: file)
        var refused: [RefusedWrite] = []
        var healing = Healing()
        var history = HistoryAppender(to: file, in: transaction, salts: versionSalts, now: now)
        if !remaining.isEmpty {
            (refused, healing) = try integrate(remaining, of: client, into: &history)
            try history.flush()
        }
        try record(upload, of: &client, in: file.id)
        return Outcome(
            currentVersion: history.file.currentVersion,
            integratedCount: remaining.count,
            refused: refused,
            healing: healing
        )
    }

    /// The session has checked the same against what it knew; this is against what is stored.
    private func check(
        _ changesets: [UploadChangeset],
        _ progress: UploadCursor,
        of client: ClientFile,
        in file: ServerFile
    ) throws(IntegrationRefusal) {
        var last = client.upload
        for changeset in changesets {
            let cursor = changeset.cursor
            guard cursor.clientVersion > last.clientVersion,
                cursor.lastIntegratedServerVersion >= last.lastIntegratedServerVersion,
                cursor.lastIntegratedServerVersion <= file.currentVersion
            else { throw .badServerVersion }
            last = cursor
        }
        guard progress.lastIntegratedServerVersion <= file.currentVersion else {
            throw .badServerVersion
        }
    }

    private func integrate(
        _ changesets: [UploadChangeset],
        of uploader: ClientFile,
        into history: inout HistoryAppender
    ) throws -> ([RefusedWrite], Healing) {
        guard let first = changesets.first else { return ([], Healing()) }
        let client = uploader.ident
        var refused: [RefusedWrite] = []
        var objects = try FileObjects(
            of: history.file.id,
            in: transaction,
            documentLimitInBytes: isDocumentSizeLimited ? merging.documentSizeInBytes : .max
        )
        var applier = Applier<FileObjects>()
        var admission = Admission(replacementLimitInBytes: merging.correctionSizeInBytes / 2)
        var schema = objects.schema
        var asymmetric = AsymmetricClasses(of: schema)
        var parsed: [MergeOperand] = []
        for changeset in changesets {
            let operand = try parse(changeset, of: client)
            parsed.append(operand)
        }
        var window = try MergeWindow(
            of: client,
            with: uploader.snapshotVersion,
            in: history.file,
            after: first.cursor.lastIntegratedServerVersion,
            meeting: parsed,
            within: merging,
            indexes: indexes,
            from: transaction
        )
        // Changesets of one base are merged at once: each builds on the ones before it.
        var start = changesets.startIndex
        while start < changesets.endIndex {
            let base = changesets[start].cursor.lastIntegratedServerVersion
            let end =
                changesets[start...].firstIndex { $0.cursor.lastIntegratedServerVersion != base }
                ?? changesets.endIndex
            var run = Array(parsed[start..<end])
            bar(&run, from: start, &admission)
            try rebase(&run, from: start, madeOn: base, &window, &admission)
            for (index, operand) in zip(start..<end, run) {
                let allowed =
                    mayWrite ? operand.changeset : operand.changeset.schemaChangesOnly
                let classCount = schema.classes.count
                try policy.admit(allowed, to: &schema)
                if schema.classes.count > classCount { asymmetric = AsymmetricClasses(of: schema) }
                let admitted = try admit(allowed, by: &applier, to: &objects, &admission)
                let cursor = changesets[index].cursor
                // Also when nothing is left of it: the client version it brings must be on record.
                try history.append(
                    asymmetric.removing(from: admitted).encoded(),
                    by: .client(client, cursor.clientVersion, at: changesets[index].originTimestamp)
                )
                guard !mayWrite else { continue }
                // A class that came with the changeset must be known.
                try finish(&applier, &objects)
                // Whatever the merge left of it: the client has applied all of it.
                let compensation = try Compensation(
                    of: parsed[index].changeset,
                    from: objects
                )
                guard !compensation.objects.isEmpty else { continue }
                try correct(
                    client,
                    with: compensation.changeset,
                    after: cursor,
                    undoing: cursor.clientVersion,
                    &history
                )
                refused.append(
                    RefusedWrite(
                        compensation.objects,
                        in: cursor.clientVersion,
                        undoneAt: history.file.currentVersion
                    )
                )
            }
            start = end
        }
        try finish(&applier, &objects)
        guard objects.tooLarge.isEmpty else { throw ObjectsTooLarge(objects: objects.tooLarge) }
        let healing = Healing(misfits: admission.misfits)
        refused += try heal(healing, after: changesets, of: client, with: objects, &history)
        for reciprocal in window.changed {
            try transaction.putReciprocal(
                reciprocal.changeset.encoded(),
                of: reciprocal.version,
                for: client,
                in: history.file.id
            )
        }
        return (refused, healing)
    }

    private func bar(_ run: inout [MergeOperand], from first: Int, _ admission: inout Admission) {
        guard !barred.isEmpty else { return }
        var changesets = run.map(\.changeset)
        admission.bar(barred, from: &changesets, first: first)
        for (index, changeset) in changesets.enumerated() { run[index].changeset = changeset }
    }

    private func parse(
        _ changeset: UploadChangeset,
        of client: FileIdent
    ) throws(IntegrationRefusal) -> MergeOperand {
        let stamp = Stamp(
            timestamp: changeset.originTimestamp.rawValue,
            fileIdent: client.rawValue
        )
        do throws(DecodeError) {
            return MergeOperand(changeset: try Changeset(decoding: changeset.bytes), stamp: stamp)
        } catch {
            throw .badChangeset(
                reason: "client version \(changeset.cursor.clientVersion.rawValue): \(error)"
            )
        }
    }

    private func admit(
        _ changeset: Changeset,
        by applier: inout Applier<FileObjects>,
        to objects: inout FileObjects,
        _ admission: inout Admission
    ) throws -> Changeset {
        do throws(ApplyError<StoreError>) {
            return try applier.admit(changeset, to: &objects, &admission)
        } catch {
            throw Self.cause(of: error)
        }
    }

    private func finish(
        _ applier: inout Applier<FileObjects>,
        _ objects: inout FileObjects
    ) throws {
        do throws(ApplyError<StoreError>) {
            try applier.finish(&objects)
        } catch {
            throw Self.cause(of: error)
        }
    }

    private static func cause(of error: ApplyError<StoreError>) -> any Error {
        switch error {
        case .badInstruction(let error): IntegrationRefusal.badChangeset(reason: "\(error)")
        case .store(let error): error
        }
    }

    /// The base of the reciprocal history moves only together with the client version.
    private func record(
        _ upload: Upload,
        of client: inout ClientFile,
        in file: ServerFileID
    ) throws(StoreError) {
        let progress = upload.progress
        if progress.clientVersion > client.upload.clientVersion {
            let oldBase = client.upload.lastIntegratedServerVersion
            let newBase = max(oldBase, progress.lastIntegratedServerVersion)
            client.upload = UploadCursor(
                clientVersion: progress.clientVersion,
                lastIntegratedServerVersion: newBase
            )
            if newBase > oldBase {
                try transaction.removeReciprocals(for: client.ident, in: file, upTo: newBase)
            }
        }
        client.lockedServerVersion = max(client.lockedServerVersion, upload.lockedServerVersion)
        client.lastSeenAt = now
        try transaction.put(client, in: file)
    }
}
