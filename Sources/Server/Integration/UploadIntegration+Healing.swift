import Changesets
import Documents
import Merge
import Schemas
import SyncProtocol
import Versions

/// Uploads that do not fit (sync history, 14.6).
extension UploadIntegration {
    /// How many properties whose changes cannot be merged are left out of an upload before it is refused:
    /// each costs another merge.
    private static let impossibleMergeLimit = 2

    func rebase(
        _ run: inout [MergeOperand],
        from first: Int,
        madeOn base: ServerVersion,
        _ window: inout MergeWindow,
        _ admission: inout Admission
    ) throws(IntegrationRefusal) {
        for attempt in 0... {
            var (merged, history) = (run, window)
            do throws(MergeError) {
                try history.rebase(&merged, madeOn: base)
                (run, window) = (merged, history)
                return
            } catch {
                window.spend(asMuchAs: history)
                guard error.isMisfit, attempt < Self.impossibleMergeLimit else {
                    throw error.refusal
                }
                let culprit = run[error.theirs.changeset].changeset
                var changesets = run.map(\.changeset)
                admission.drop(
                    culprit.instructions[error.theirs.instruction],
                    of: culprit,
                    from: &changesets,
                    first: first
                )
                for (index, changeset) in changesets.enumerated() {
                    run[index].changeset = changeset
                }
            }
        }
    }

    /// Sends the client what its upload did not fit, as it is now. It comes after all of the upload: what the
    /// client has built on its own version is merged with it at both ends.
    func heal(
        _ healing: Healing,
        after changesets: [UploadChangeset],
        of client: FileIdent,
        with objects: FileObjects,
        _ file: inout ServerFile
    ) throws -> [RefusedWrite] {
        guard let cursor = changesets.last?.cursor else { return [] }
        if !healing.corrections.isEmpty {
            let bytes = try Correction(of: healing.corrections, from: objects).changeset
            try append(bytes, undoing: nil, for: client, at: cursor, to: &file)
        }
        guard let first = healing.losses.first else { return [] }
        let correction = try Correction(of: healing.losses, from: objects)
        let version = changesets[first.changeset].cursor.clientVersion
        try append(correction.changeset, undoing: version, for: client, at: cursor, to: &file)
        return [
            RefusedWrite(
                correction.objects,
                in: version,
                undoneAt: file.currentVersion,
                because: first.problem == .objectTooLarge ? .tooLarge : .misfit
            )
        ]
    }

    /// Appends a version that only the client sees; `cursor` says what the client has. `undoing` is the
    /// client's version whose writes it is told are undone, also after its connection was lost; nil if it
    /// is told nothing.
    ///
    /// A small upload can call for a large answer, so there is a limit to what waits for a client that takes
    /// nothing in: a client reset brings the same.
    func append(
        _ changeset: [UInt8],
        undoing version: ClientVersion?,
        for client: FileIdent,
        at cursor: UploadCursor,
        to file: inout ServerFile
    ) throws {
        let waiting = try transaction.privateSizeInBytes(
            of: file.id,
            after: cursor.lastIntegratedServerVersion,
            for: client
        )
        guard waiting + UInt64(changeset.count) <= Healing.waitingLimitInBytes else {
            throw IntegrationRefusal.badChangeset(
                reason: "corrections of \(waiting) bytes wait for the client"
            )
        }
        file.currentVersion = ServerVersion(file.currentVersion.rawValue + 1)
        file.historySizeInBytes += UInt64(changeset.count)
        try transaction.append(
            HistoryEntry(
                version: SaltedServerVersion(
                    version: file.currentVersion,
                    salt: versionSalts.salt(of: file)
                ),
                origin: .none,
                clientVersion: version ?? .zero,
                timestamp: OriginTimestamp(millisecondsSince1970: now) ?? OriginTimestamp(0),
                changeset: changeset,
                cumulativeSizeInBytes: file.historySizeInBytes,
                recipient: client
            ),
            to: file.id
        )
    }
}

extension MergeError {
    /// Whether the two sides assume different contents of a list.
    fileprivate var isMisfit: Bool {
        switch reason {
        case .listSizesDiffer, .indexOutOfRange, .listMeetsDictionary: true
        case .classesDiffer, .columnsDiffer, .nestedSet, .tooManyPairs: false
        }
    }

    fileprivate var refusal: IntegrationRefusal {
        switch reason {
        case .classesDiffer, .columnsDiffer: .schemaChange(reason: "\(self)")
        case .listSizesDiffer, .indexOutOfRange, .listMeetsDictionary, .nestedSet, .tooManyPairs:
            .badChangeset(reason: "\(self)")
        }
    }
}
