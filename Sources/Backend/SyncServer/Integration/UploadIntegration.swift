import Changesets
import Documents
import Merge
import Schemas
import ServerStore
import SyncProtocol
import Versions

/// Integrates an upload into a server file, in the caller's transaction (sync history, 14.4).
/// Merges it with the history unknown to the client, applies it to the objects, appends it to the
/// history.
///
/// Recognises repeated changesets by their client version and leaves them out, so the same upload
/// may arrive any number of times.
struct UploadIntegration {
    let transaction: any StoreTransaction
    let policy: SchemaPolicy
    /// Whether the user may change objects; the policy is the app's, for all users.
    let mayWrite: Bool
    /// Milliseconds since 1970.
    let now: Int64
    let merging: MergeLimits
    private let indexes: HistoryIndexes?
    private let isDocumentSizeLimited: Bool
    /// Whether created objects are added without a look at the store.
    private let expectsNewObjects: Bool
    /// Objects whose changes are left out.
    private let barred: Set<ObjectReference>
    /// Nil in partition-based sync.
    private let flexible: FlexibleSettings?
    /// Objects that the sink of asymmetric classes has already.
    let ingested: Ingestion
    /// The property with the partition of each object, of partition-based sync.
    private let partitionKey: Text?

    /// Of an upload of 16 MiB, some ten megabytes at a time. Those that most uploads touch are fewer.
    private static let heldObjects = 16_384

    /// Objects that would be larger than allowed. The transaction must be rolled back; with these
    /// objects barred the upload can be tried again.
    struct ObjectsTooLarge: Error {
        let objects: Set<ObjectReference>
    }

    /// An object that the upload creates exists. The transaction must be rolled back; without
    /// `expectsNewObjects` the upload can be tried again.
    struct ObjectsExist: Error {}

    init(
        in transaction: any StoreTransaction,
        policy: SchemaPolicy,
        mayWrite: Bool = true,
        now: Int64
    ) {
        self.init(
            in: transaction,
            policy: policy,
            mayWrite: mayWrite,
            now: now,
            merging: MergeLimits(),
            indexes: nil
        )
    }

    /// With `indexes`, may throw `HistoryIndexes.Needed` without a change. With `barred`, may throw
    /// `ObjectsTooLarge`; with `expectsNewObjects`, `ObjectsExist`; with a sink, `Ingestion.Needed`.
    init(
        in transaction: any StoreTransaction,
        policy: SchemaPolicy,
        mayWrite: Bool,
        now: Int64,
        merging: MergeLimits,
        indexes: HistoryIndexes?,
        barred: Set<ObjectReference>? = nil,
        expectsNewObjects: Bool = false,
        flexible: FlexibleSettings? = nil,
        ingested: Ingestion = Ingestion(),
        partitionKey: Text? = nil
    ) {
        self.partitionKey = partitionKey
        self.transaction = transaction
        self.policy = policy
        self.mayWrite = mayWrite
        self.now = now
        self.merging = merging
        self.indexes = indexes
        self.isDocumentSizeLimited = barred != nil
        self.barred = barred ?? []
        self.expectsNewObjects = expectsNewObjects
        self.flexible = flexible
        self.ingested = ingested
    }

    /// The result for the client, and for the sessions to notify.
    struct Outcome: Hashable, Sendable {
        let currentVersion: ServerVersion
        let integratedCount: Int
        /// The integrated part of the client's history.
        let upload: UploadCursor
        /// Rejected writes; the client must get the report of each before the version.
        let refused: [RejectedChangeset]
        /// The changes that did not fit, and were left out.
        let healing: Healing
        /// Rejected writes that cannot be undone.
        var forbidden: [SessionFault.RejectedUpdates] = []
        /// Pairs of changesets that were merged.
        var mergedPairs = 0
        /// The new versions if they are the client's own alone; nil if a scan must
        /// find out.
        var ownVersions: OwnVersions?
    }

    /// Throws `IntegrationRefusal` or `StoreError`; the transaction must then be rolled back.
    func integrate(_ upload: Upload, into id: ServerFileID) throws -> Outcome {
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
        var refused: [RejectedChangeset] = []
        var healing = Healing()
        var forbidden: [SessionFault.RejectedUpdates] = []
        var mergedPairs = 0
        var history = HistoryAppender(to: file, in: transaction, now: now)
        if !remaining.isEmpty, let flexible {
            let outcome = try ViewIntegration(uploads: self, settings: flexible).integrate(
                remaining,
                of: client,
                into: &history
            )
            (refused, healing, forbidden) = (outcome.refused, outcome.healing, outcome.forbidden)
            mergedPairs = outcome.mergedPairs
            try history.flush()
        } else if !remaining.isEmpty {
            (refused, healing, mergedPairs) = try integrate(
                remaining,
                of: client,
                into: &history
            )
            try history.flush()
        }
        try record(upload, of: &client, in: file.id)
        return Outcome(
            currentVersion: history.file.currentVersion,
            integratedCount: remaining.count,
            upload: client.upload,
            refused: refused,
            healing: healing,
            forbidden: forbidden,
            mergedPairs: mergedPairs,
            ownVersions: flexible == nil
                ? OwnVersions(remaining, from: file.currentVersion, to: history.newest, client)
                : nil
        )
    }

    /// The session has checked the same against its own state; this checks against the store.
    private func check(
        _ changesets: [ParsedChangeset],
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
        _ changesets: [ParsedChangeset],
        of uploader: ClientFile,
        into history: inout HistoryAppender
    ) throws -> ([RejectedChangeset], Healing, mergedPairs: Int) {
        guard let first = changesets.first else { return ([], Healing(), 0) }
        let client = uploader.ident
        var refused: [RejectedChangeset] = []
        var objects = try objects(of: history.file.id)
        var applier = Applier<FileObjects>(
            expectsNewObjects: expectsNewObjects,
            heldObjects: Self.heldObjects
        )
        var admission = admission
        var schema = objects.schema
        var asymmetric = AsymmetricClasses(of: schema)
        var partitionField = partitionKey.flatMap {
            PartitionField($0, of: history.file.partition)
        }
        let received = try changesets.map { try $0.received() }
        var window = try window(
            of: uploader,
            first,
            meeting: UploadedPlaces(of: received),
            history.file
        )
        // Changesets with one base are merged together: each builds on the ones before it.
        var start = changesets.startIndex
        while start < changesets.endIndex {
            let base = changesets[start].cursor.lastIntegratedServerVersion
            let end =
                changesets[start...].firstIndex { $0.cursor.lastIntegratedServerVersion != base }
                ?? changesets.endIndex
            let isWhole = mayWrite && barred.isEmpty && !window.hasHistory(after: base)
            var run: [MergeOperand] = []
            if !isWhole {
                run = try changesets[start..<end].map { try $0.operand(of: client) }
                bar(&run, from: start, &admission)
                try rebase(&run, from: start, madeOn: base, &window, &admission)
            }
            for index in start..<end {
                if isWhole, asymmetric.isEmpty, let plain = received[index].plain,
                    try add(plain, &applier, &objects, &admission, partitionField)
                {
                    try history.append(
                        received[index].encoded(),
                        by: .client(
                            client,
                            changesets[index].cursor.clientVersion,
                            at: changesets[index].originTimestamp
                        )
                    )
                    continue
                }
                let merged = isWhole ? received[index].changeset : run[index - start].changeset
                let allowed = mayWrite ? merged : merged.schemaChangesOnly
                if received[index].changesSchema {
                    try policy.admit(allowed, to: &schema)
                    asymmetric = AsymmetricClasses(of: schema)
                }
                let admitted = try admit(allowed, by: &applier, to: &objects, &admission)
                partitionField?.note(admitted, schema)
                let cursor = changesets[index].cursor
                let isUnchanged = isWhole && admission.leftChangesetAlone && asymmetric.isEmpty
                // Also if the merge removed all of it: its client version must be recorded.
                try history.append(
                    isUnchanged
                        ? received[index].encoded()
                        : asymmetric.removing(from: admitted).encoded(),
                    by: .client(client, cursor.clientVersion, at: changesets[index].originTimestamp)
                )
                guard !mayWrite else { continue }
                // Classes of the changeset must be known.
                try finish(&applier, &objects)
                // From the original, not the merged changeset: the client has applied all of it.
                let compensation = try Compensation(
                    of: received[index].changeset,
                    from: objects
                )
                guard !compensation.objects.isEmpty else { continue }
                try correct(
                    client,
                    with: compensation.changeset,
                    after: cursor,
                    compensating: cursor.clientVersion,
                    &history
                )
                refused.append(
                    RejectedChangeset(
                        compensation.objects,
                        in: cursor.clientVersion,
                        compensatedAt: history.file.currentVersion
                    )
                )
            }
            start = end
        }
        if let bytes = partitionField?.changeset {
            let changeset = try Changeset(decoding: bytes)
            _ = try admit(changeset, by: &applier, to: &objects, &admission)
            try history.append(bytes, by: .server)
        }
        try finish(&applier, &objects)
        guard !objects.foundExisting else { throw ObjectsExist() }
        guard objects.tooLarge.isEmpty else { throw ObjectsTooLarge(objects: objects.tooLarge) }
        let healing = Healing(misfits: admission.misfits)
        refused += try sendCorrections(
            healing,
            after: changesets,
            of: client,
            with: objects,
            &history
        )
        try storeReciprocals(of: window, for: client, in: history.file.id)
        return (refused, healing, window.mergedPairs)
    }

    /// For a new upload.
    var admission: Admission {
        Admission(
            replacementLimitInBytes: merging.correctionSizeInBytes / 2,
            allowsCollectionsInMixed: policy.allowsCollectionsInMixed
        )
    }

    func objects(of file: ServerFileID) throws(StoreError) -> FileObjects {
        try FileObjects(
            of: file,
            in: transaction,
            documentLimitInBytes: isDocumentSizeLimited ? merging.documentSizeInBytes : .max,
            hasSink: flexible?.sink != nil
        )
    }

    /// The history to merge an upload with; `first` is its first changeset.
    func window(
        of uploader: ClientFile,
        _ first: ParsedChangeset,
        meeting uploads: UploadedPlaces,
        _ file: ServerFile
    ) throws -> MergeWindow {
        try MergeWindow(
            of: uploader.ident,
            with: uploader.snapshotVersion,
            in: file,
            after: first.cursor.lastIntegratedServerVersion,
            meeting: uploads,
            within: merging,
            indexes: indexes,
            from: transaction
        )
    }

    func storeReciprocals(
        of window: MergeWindow,
        for client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) {
        for reciprocal in window.changed {
            try transaction.putReciprocal(
                reciprocal.changeset.encoded(),
                of: reciprocal.version,
                for: client,
                in: file
            )
        }
    }

    func bar(_ run: inout [MergeOperand], from first: Int, _ admission: inout Admission) {
        guard !barred.isEmpty else { return }
        var changesets = run.map(\.changeset)
        admission.bar(barred, from: &changesets, first: first)
        for (index, changeset) in changesets.enumerated() { run[index].changeset = changeset }
    }

    func admit(
        _ changeset: Changeset,
        by applier: inout Applier<FileObjects>,
        to objects: inout FileObjects,
        _ admission: inout Admission
    ) throws -> Changeset {
        do throws(ApplyError<StoreError>) {
            return try applier.admit(changeset, to: &objects, &admission)
        } catch {
            throw Self.cause(of: error, objects)
        }
    }

    /// Adds the objects of a plain changeset straight from its bytes, if it only creates objects that
    /// are expected to be new; false if it is to be admitted like any other.
    private func add(
        _ changeset: PlainChangeset,
        _ applier: inout Applier<FileObjects>,
        _ objects: inout FileObjects,
        _ admission: inout Admission,
        _ partitionField: PartitionField?
    ) throws -> Bool {
        guard expectsNewObjects, admission.isClearThroughout, partitionField?.isComplete ?? true
        else { return false }
        // The changesets before it come first, and their schema.
        try finish(&applier, &objects)
        guard try objects.add(changeset, requiring: partitionField?.name) else { return false }
        admission.admitWhole()
        return true
    }

    func finish(
        _ applier: inout Applier<FileObjects>,
        _ objects: inout FileObjects
    ) throws {
        do throws(ApplyError<StoreError>) {
            try applier.finish(&objects)
        } catch {
            throw Self.cause(of: error, objects)
        }
    }

    private static func cause(
        of error: ApplyError<StoreError>,
        _ objects: FileObjects
    ) -> any Error {
        // The state that the error is about is not the one in the store.
        guard !objects.foundExisting else { return ObjectsExist() }
        switch error {
        case .badInstruction(let error): return IntegrationRefusal.badChangeset(reason: "\(error)")
        case .store(let error): return error
        }
    }

    /// The base of the reciprocal history changes only together with the client version.
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
