import Changesets
import Documents
import Merge
import Schemas
import ServerStore
import SyncProtocol
import Versions

/// Uploads that do not fit (sync history, 14.6).
extension UploadIntegration {
    /// The number of properties with unmergeable changes that are left out of an upload before it
    /// is refused: each costs another merge.
    private static let impossibleMergeLimit = 2

    /// Returns false if the changesets were not merged with anything, and are unchanged.
    @discardableResult
    func rebase(
        _ run: inout [MergeOperand],
        from first: Int,
        madeOn base: ServerVersion,
        _ window: inout MergeWindow,
        _ admission: inout Admission
    ) throws(IntegrationRefusal) -> Bool {
        for attempt in 0... {
            var (merged, history) = (run, window)
            do throws(MergeError) {
                let isMerged = try history.rebase(&merged, madeOn: base)
                (run, window) = (merged, history)
                return isMerged
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
        preconditionFailure("the last attempt returns or throws")
    }

    /// Sends the client the server's values where its upload did not fit. This follows the whole
    /// upload: both ends merge it with the client's later changes.
    func sendCorrections(
        _ healing: Healing,
        after changesets: [ParsedChangeset],
        of client: FileIdent,
        with objects: FileObjects,
        _ history: inout HistoryAppender
    ) throws -> [RejectedChangeset] {
        guard let cursor = changesets.last?.cursor else { return [] }
        if !healing.corrections.isEmpty {
            let bytes = try correction(of: healing.corrections, from: objects).changeset
            try correct(client, with: bytes, after: cursor, compensating: nil, &history)
        }
        guard let first = healing.losses.first else { return [] }
        let correction = try correction(of: healing.losses, from: objects)
        let version = changesets[first.changeset].cursor.clientVersion
        try correct(
            client,
            with: correction.changeset,
            after: cursor,
            compensating: version,
            &history
        )
        return [
            RejectedChangeset(
                correction.objects,
                in: version,
                compensatedAt: history.file.currentVersion,
                because: RejectedChangeset.Reason(first.problem)
            )
        ]
    }

    private func correction(
        of misfits: [Admission.Misfit],
        from objects: FileObjects
    ) throws -> Correction {
        try Correction(
            of: misfits,
            from: objects,
            limitInBytes: merging.correctionSizeInBytes / 4
        )
    }

    /// Appends a version for this client only; the cursor is the client's position. `compensating`
    /// is the client's version whose writes are reported as undone, or nil.
    ///
    /// A small upload can need a large correction, so pending corrections for a client that
    /// downloads nothing are limited. A client reset has the same effect.
    func correct(
        _ client: FileIdent,
        with changeset: [UInt8],
        after cursor: UploadCursor,
        compensating version: ClientVersion?,
        _ history: inout HistoryAppender
    ) throws {
        try history.flush()
        let waiting = try transaction.privateSizeInBytes(
            of: history.file.id,
            after: cursor.lastIntegratedServerVersion,
            for: client
        )
        guard waiting + UInt64(changeset.count) <= UInt64(merging.correctionSizeInBytes) else {
            throw IntegrationRefusal.badChangeset(
                reason: "corrections of \(waiting) bytes are pending for the client"
            )
        }
        try history.append(changeset, by: .correction(for: client, compensating: version))
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
