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

    package init(
        in transaction: any StoreTransaction,
        policy: SchemaPolicy,
        mayWrite: Bool = true,
        versionSalts: VersionSalts,
        now: Int64
    ) {
        self.transaction = transaction
        self.policy = policy
        self.mayWrite = mayWrite
        self.versionSalts = versionSalts
        self.now = now
    }

    /// What a client needs to be told, and the others woken up for.
    package struct Outcome: Hashable, Sendable {
        package let currentVersion: ServerVersion
        package let integratedCount: Int
        /// Writes that were undone; the client must hear of each before it gets the version.
        package let refused: [RefusedWrite]
    }

    /// Throws `IntegrationRefusal` or `StoreError`; the transaction must then be given up.
    package func integrate(_ upload: Upload, into id: ServerFileID) throws -> Outcome {
        guard var file = try transaction.file(id),
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
        if !remaining.isEmpty {
            refused = try integrate(remaining, of: client, into: &file)
        }
        try record(upload, of: &client, in: file)
        return Outcome(
            currentVersion: file.currentVersion,
            integratedCount: remaining.count,
            refused: refused
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
        into file: inout ServerFile
    ) throws -> [RefusedWrite] {
        guard let first = changesets.first else { return [] }
        let client = uploader.ident
        var refused: [RefusedWrite] = []
        var objects = try FileObjects(of: file.id, in: transaction)
        var applier = Applier<FileObjects>()
        var schema = objects.schema
        var parsed: [MergeOperand] = []
        for changeset in changesets {
            let operand = try parse(changeset, of: client)
            parsed.append(operand)
        }
        var window = try MergeWindow(
            of: client,
            with: uploader.snapshotVersion,
            in: file.id,
            after: first.cursor.lastIntegratedServerVersion,
            meeting: parsed,
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
            do throws(MergeError) {
                try window.rebase(&run, madeOn: base)
            } catch {
                throw error.refusal
            }
            for (index, operand) in zip(start..<end, run) {
                let admitted =
                    mayWrite ? operand.changeset : operand.changeset.schemaChangesOnly
                try policy.admit(admitted, to: &schema)
                try apply(admitted, by: &applier, to: &objects)
                try append(admitted, changesets[index], of: client, to: &file)
                guard !mayWrite else { continue }
                // Whatever the merge left of it: the client has applied all of it.
                let compensation = try Compensation(
                    of: parsed[index].changeset,
                    from: objects
                )
                guard !compensation.objects.isEmpty else { continue }
                try append(compensation, for: client, to: &file)
                refused.append(
                    RefusedWrite(
                        compensation.objects,
                        in: changesets[index].cursor.clientVersion,
                        undoneAt: file.currentVersion
                    )
                )
            }
            start = end
        }
        try finish(&applier, &objects)
        for reciprocal in window.changed {
            try transaction.putReciprocal(
                reciprocal.changeset.encoded(),
                of: reciprocal.version,
                for: client,
                in: file.id
            )
        }
        return refused
    }

    private func append(
        _ compensation: Compensation,
        for client: FileIdent,
        to file: inout ServerFile
    ) throws(StoreError) {
        file.currentVersion = ServerVersion(file.currentVersion.rawValue + 1)
        file.historySizeInBytes += UInt64(compensation.changeset.count)
        try transaction.append(
            HistoryEntry(
                version: SaltedServerVersion(
                    version: file.currentVersion,
                    salt: versionSalts.salt(of: file)
                ),
                origin: .none,
                clientVersion: .zero,
                timestamp: OriginTimestamp(millisecondsSince1970: now) ?? OriginTimestamp(0),
                changeset: compensation.changeset,
                cumulativeSizeInBytes: file.historySizeInBytes,
                recipient: client
            ),
            to: file.id
        )
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

    private func apply(
        _ changeset: Changeset,
        by applier: inout Applier<FileObjects>,
        to objects: inout FileObjects
    ) throws {
        do throws(ApplyError<StoreError>) {
            try applier.apply(changeset, to: &objects)
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

    /// One version for each changeset, also when nothing is left of it: the client version it brings
    /// must be on record.
    private func append(
        _ changeset: Changeset,
        _ upload: UploadChangeset,
        of client: FileIdent,
        to file: inout ServerFile
    ) throws(StoreError) {
        let bytes = changeset.encoded()
        file.currentVersion = ServerVersion(file.currentVersion.rawValue + 1)
        file.historySizeInBytes += UInt64(bytes.count)
        try transaction.append(
            HistoryEntry(
                version: SaltedServerVersion(
                    version: file.currentVersion,
                    salt: versionSalts.salt(of: file)
                ),
                origin: client,
                clientVersion: upload.cursor.clientVersion,
                timestamp: upload.originTimestamp,
                changeset: bytes,
                cumulativeSizeInBytes: file.historySizeInBytes
            ),
            to: file.id
        )
    }

    /// The base of the reciprocal history moves only together with the client version.
    private func record(
        _ upload: Upload,
        of client: inout ClientFile,
        in file: ServerFile
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
                try transaction.removeReciprocals(for: client.ident, in: file.id, upTo: newBase)
            }
        }
        client.lockedServerVersion = max(client.lockedServerVersion, upload.lockedServerVersion)
        client.lastSeenAt = now
        try transaction.put(client, in: file.id)
    }
}

extension MergeError {
    fileprivate var refusal: IntegrationRefusal {
        switch reason {
        case .classesDiffer, .columnsDiffer: .schemaChange(reason: "\(self)")
        case .listSizesDiffer, .indexOutOfRange, .listMeetsDictionary, .nestedSet, .tooManyPairs:
            .badChangeset(reason: "\(self)")
        }
    }
}
