import Changesets
import Documents
import Merge
import Permissions
import Schemas
import ServerStore
import SyncProtocol
import Versions

/// Integrates the changesets of a client with a view (flexible sync, 11 and 13.5): leaves out what its
/// view or its rights do not allow, merges and applies the rest, records which objects each version
/// touched, and undoes the rejected writes at the client.
struct ViewIntegration {
    /// The steps that all uploads have in common.
    let uploads: UploadIntegration
    let settings: FlexibleSettings

    struct Outcome {
        var refused: [RejectedChangeset] = []
        var healing = Healing()
        /// Writes to asymmetric classes, which cannot be undone.
        var forbidden: [SessionFault.RejectedUpdates] = []
        /// Pairs of changesets that were merged.
        var mergedPairs = 0
    }

    /// The rejected objects of one changeset.
    private struct Rejections {
        let cursor: UploadCursor
        var reasons: [(object: ObjectReference, reason: WriteRejection)] = []

        func updates(where isIncluded: (ObjectReference) -> Bool) -> [RejectedUpdate] {
            reasons.filter { isIncluded($0.object) }.map { object, reason in
                RejectedUpdate(
                    className: object.className.description,
                    key: object.key,
                    reason: reason.reason(for: object)
                )
            }
        }
    }

    private struct State {
        var objects: FileObjects
        var applier = Applier<FileObjects>()
        var admission: Admission
        var schema: RealmSchema
        var judge: ViewJudge
        var rejections: [Rejections] = []
        var ingestion = Ingestion()
    }

    func integrate(
        _ changesets: [ParsedChangeset],
        of uploader: ClientFile,
        into history: inout HistoryAppender
    ) throws -> Outcome {
        guard let first = changesets.first, let last = changesets.last else { return Outcome() }
        let objects = try uploads.objects(of: history.file.id)
        var state = State(
            objects: objects,
            admission: uploads.admission,
            schema: objects.schema,
            judge: try ViewJudge(of: uploader, in: history.file, settings, uploads.transaction)
        )
        var received: [ReceivedChangeset] = []
        var parsed: [MergeOperand] = []
        for changeset in changesets {
            var operand = try changeset.operand(of: uploader.ident)
            let outside = try state.judge.discontinuous(
                operand.changeset,
                madeOn: changeset.cursor.lastIntegratedServerVersion,
                state.schema
            )
            state.rejections.append(
                Rejections(
                    cursor: changeset.cursor,
                    reasons: operand.changeset.objects.filter(outside.contains)
                        .map { ($0, .outsideView) }
                )
            )
            operand.changeset = operand.changeset.removing(outside)
            received.append(try changeset.received())
            parsed.append(operand)
        }
        var window = try uploads.window(
            of: uploader,
            first,
            meeting: UploadedPlaces(of: parsed),
            history.file
        )
        // Changesets with one base are merged together: each builds on the ones before it.
        var start = changesets.startIndex
        while start < changesets.endIndex {
            let base = changesets[start].cursor.lastIntegratedServerVersion
            let end =
                changesets[start...].firstIndex { $0.cursor.lastIntegratedServerVersion != base }
                ?? changesets.endIndex
            var run = Array(parsed[start..<end])
            uploads.bar(&run, from: start, &state.admission)
            _ = try uploads.rebase(&run, from: start, madeOn: base, &window, &state.admission)
            for (index, operand) in zip(start..<end, run) {
                try admit(
                    operand.changeset,
                    changesets[index],
                    at: index,
                    of: uploader,
                    changesSchema: received[index].changesSchema,
                    &state,
                    &history
                )
            }
            start = end
        }
        try uploads.finish(&state.applier, &state.objects)
        guard state.ingestion == uploads.ingested else {
            throw Ingestion.Needed(ingestion: state.ingestion)
        }
        guard state.objects.tooLarge.isEmpty else {
            throw UploadIntegration.ObjectsTooLarge(objects: state.objects.tooLarge)
        }
        var outcome = try sendCorrections(state, after: changesets, last, of: uploader, &history)
        try uploads.storeReciprocals(of: window, for: uploader.ident, in: history.file.id)
        outcome.mergedPairs = window.mergedPairs
        // The client has everything up to its acknowledged version.
        let known = uploader.upload.lastIntegratedServerVersion
        try uploads.transaction.removeRejections(
            of: uploader.ident,
            in: history.file.id,
            upTo: known
        )
        try uploads.transaction.removeViewRanges(
            of: uploader.ident,
            in: history.file.id,
            upTo: known
        )
        return outcome
    }

    /// Applies the allowed part of a merged changeset, and appends it to the history.
    private func admit(
        _ merged: Changeset,
        _ changeset: ParsedChangeset,
        at index: Int,
        of uploader: ClientFile,
        changesSchema: Bool,
        _ state: inout State,
        _ history: inout HistoryAppender
    ) throws {
        let schemaChanges = merged.schemaChangesOnly
        if changesSchema {
            try uploads.policy.admit(schemaChanges, to: &state.schema)
            // Before the objects: nothing is ever removed from a schema.
            var admission = Admission()
            _ = try uploads.admit(
                schemaChanges,
                by: &state.applier,
                to: &state.objects,
                &admission
            )
            try uploads.finish(&state.applier, &state.objects)
            try state.judge.noteSchema(state.objects.schema)
        }
        var changes = merged.objectChangesOnly
        var objects = changes.objects
        var (applier, admission) = (state.applier, state.admission)
        var admitted = try uploads.admit(changes, by: &applier, to: &state.objects, &admission)
        let rejected = try rejected(objects, of: changes, applier, &state)
        if !rejected.isEmpty {
            state.rejections[index].reasons += rejected
            let removed = Set(rejected.map(\.object))
            changes = changes.removing(removed)
            objects.removeAll(where: removed.contains)
            (applier, admission) = (state.applier, state.admission)
            admitted = try uploads.admit(changes, by: &applier, to: &state.objects, &admission)
        }
        let touched = try touched(
            objects,
            from: state.applier,
            to: applier,
            &state,
            at: ServerVersion(history.file.currentVersion.rawValue + 1)
        )
        (state.applier, state.admission) = (applier, admission)
        try ingest(objects, of: uploader, &state)
        // Objects that existed neither before nor after: no other client gets these instructions, so
        // its uploads must not be merged with them.
        let known = Set(touched.map(\.object))
        let schema = state.objects.schema
        admitted = admitted.removing(
            Set(
                objects.filter {
                    !known.contains($0) && schema[$0.className]?.isAsymmetric != true
                }
            )
        )
        let whole = Changeset(
            strings: admitted.strings,
            instructions: schemaChanges.instructions + admitted.instructions
        )
        // Also if nothing is left of it: its client version must be recorded.
        try history.append(
            AsymmetricClasses(of: state.schema).removing(from: whole).encoded(),
            by: .client(
                uploader.ident,
                changeset.cursor.clientVersion,
                at: changeset.originTimestamp
            )
        )
        try uploads.transaction.append(touched, to: history.file.id)
    }

    /// Collects the inserted objects of asymmetric classes, if a sink takes them.
    private func ingest(
        _ objects: [ObjectReference],
        of uploader: ClientFile,
        _ state: inout State
    ) throws {
        guard settings.sink != nil else { return }
        for object in objects
        where state.objects.schema[object.className]?.isAsymmetric == true {
            guard let document = try state.applier.document(for: object, in: &state.objects) else {
                continue
            }
            state.ingestion.append(
                IngestedObject(
                    className: object.className,
                    user: uploader.owner,
                    document: try state.objects.encoded(document, object)
                )
            )
        }
    }

    /// The objects whose writes are not allowed, judged by their states before and after.
    private func rejected(
        _ objects: [ObjectReference],
        of changes: Changeset,
        _ applier: Applier<FileObjects>,
        _ state: inout State
    ) throws -> [(object: ObjectReference, reason: WriteRejection)] {
        let fields = changes.changedFields
        var rejected: [(object: ObjectReference, reason: WriteRejection)] = []
        for object in objects {
            guard let owner = state.objects.schema[object.className], !owner.isEmbedded else {
                throw IntegrationRefusal.badChangeset(reason: "unknown class \(object.className)")
            }
            let reason = state.judge.rejection(
                of: object,
                from: try state.applier.document(for: object, in: &state.objects),
                to: try applier.document(for: object, in: &state.objects),
                changing: fields[object] ?? [],
                owner
            )
            if let reason { rejected.append((object, reason)) }
        }
        return rejected
    }

    private func touched(
        _ objects: [ObjectReference],
        from before: Applier<FileObjects>,
        to after: Applier<FileObjects>,
        _ state: inout State,
        at version: ServerVersion
    ) throws -> [TouchedObject] {
        let images = ObjectImages(state.objects.schema, of: state.objects.file, settings)
        var touched: [TouchedObject] = []
        for object in objects {
            guard let owner = state.objects.schema[object.className], !owner.isAsymmetric else {
                continue
            }
            let old = try before.document(for: object, in: &state.objects)
                .map { images.image(of: $0, owner) }
            let new = try after.document(for: object, in: &state.objects)
                .map { images.image(of: $0, owner) }
            let change: TouchedObject.Change
            switch (old, new) {
            case (nil, nil): continue
            case (nil, let new?): change = .created(new)
            case (let old?, nil): change = .deleted(old)
            case (let old?, let new?):
                change = old == new ? .kept(old) : .changed(from: old, to: new)
            }
            touched.append(TouchedObject(object: object, version: version, change: change))
        }
        return touched
    }

    /// Appends the versions that undo rejected writes, one for each changeset that has some. They
    /// follow the whole upload: both ends merge them with the client's later changes.
    private func sendCorrections(
        _ state: State,
        after changesets: [ParsedChangeset],
        _ last: ParsedChangeset,
        of uploader: ClientFile,
        _ history: inout HistoryAppender
    ) throws -> Outcome {
        let id = history.file.id
        var outcome = Outcome(healing: Healing(misfits: state.admission.misfits))
        outcome.refused = try uploads.sendCorrections(
            outcome.healing,
            after: changesets,
            of: uploader.ident,
            with: state.objects,
            &history
        )
        let states = ObjectStates(state.objects.schema, of: id)
        let isAsymmetric = { (object: ObjectReference) in
            state.objects.schema[object.className]?.isAsymmetric == true
        }
        for rejections in state.rejections where !rejections.reasons.isEmpty {
            let version = rejections.cursor.clientVersion
            let forbidden = rejections.updates { isAsymmetric($0) }
            if !forbidden.isEmpty {
                outcome.forbidden.append(.init(clientVersion: version, updates: forbidden))
            }
            let updates = rejections.updates { !isAsymmetric($0) }
            guard !updates.isEmpty else { continue }
            var writer = ChangesetWriter()
            for (object, _) in rejections.reasons where !isAsymmetric(object) {
                try states.write(
                    object,
                    document: try uploads.transaction.document(object, in: id),
                    in: state.judge.view,
                    into: &writer
                )
            }
            try uploads.correct(
                uploader.ident,
                with: writer.bytes,
                after: last.cursor,
                compensating: version,
                &history
            )
            outcome.refused.append(
                RejectedChangeset(
                    .init(clientVersion: version, updates: updates),
                    compensatedAt: history.file.currentVersion
                )
            )
        }
        for refused in outcome.refused {
            try uploads.transaction.append(refused.recorded, of: uploader.ident, in: id)
        }
        return outcome
    }
}
