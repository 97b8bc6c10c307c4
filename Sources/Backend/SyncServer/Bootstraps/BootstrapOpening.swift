import Changesets
import Permissions
import Query
import Schemas
import ServerStore
import SyncProtocol
import Versions

/// A client's subscriptions, as they came with an IDENT or a QUERY.
struct Subscription: Sendable {
    let client: FileIdent
    /// The epoch of the session: another one may have taken over.
    let sessionEpoch: UInt64
    let body: SubscriptionSetBody
}

/// Begins a view, in the caller's transaction: gives it a version of its own, and collects what the
/// client must get before and with its bootstrap (flexible sync, 7 and 8.1).
struct BootstrapOpening {
    let transaction: any StoreTransaction
    let settings: FlexibleSettings
    let acceptsUnknownClasses: Bool
    /// Milliseconds since 1970.
    let now: Int64

    /// The last history of the view before, and the plan of the bootstrap.
    struct Opened: Sendable {
        /// Nil for a new client.
        let history: ViewBatch?
        let plan: BootstrapPlan
    }

    /// - Parameters:
    ///   - cursor: the position up to which history was sent.
    ///   - state: the version of the held state from which the bootstrap will be read.
    ///
    /// Throws `SubscriptionSetError`, `IntegrationRefusal`, `ViewTooLarge` or `StoreError`.
    func run(
        _ subscription: Subscription,
        from cursor: DownloadCursor,
        with state: ServerVersion,
        in id: ServerFileID
    ) throws -> Opened {
        let ident = subscription.client
        guard let file = try transaction.file(id),
            let client = try transaction.clientFile(ident, in: id),
            client.generation == file.generation
        else { throw IntegrationRefusal.unknownClientFile }
        guard client.sessionEpoch == subscription.sessionEpoch else {
            throw IntegrationRefusal.superseded
        }
        let schema = try transaction.schema(of: id)
        let (view, rights) = try view(subscription, of: client, in: file, schema)
        let moment = OriginTimestamp(millisecondsSince1970: now) ?? OriginTimestamp(0)
        let batch = try history(for: client, from: cursor, in: id, moment)
        let epochs = try transaction.viewEpochs(of: ident, in: id)
        var timeline = ViewTimeline(epochs, schema)
        let earlier = timeline.views(from: cursor.serverVersion, upTo: file.currentVersion)
        var history = HistoryAppender(to: file, in: transaction, now: now)
        try history.append([], by: .correction(for: ident, compensating: nil))
        try history.flush()
        let start = SaltedServerVersion(
            version: history.file.currentVersion,
            salt: transaction.versionSalts.salt(of: file)
        )
        timeline.append(view, from: start.version)
        // An interrupted bootstrap: uploads were judged by its view, too.
        let wasInterrupted = earlier.count > 1
        let exceptions = try exceptions(
            after: wasInterrupted ? min(state, cursor.serverVersion) : state,
            since: wasInterrupted ? cursor.serverVersion : nil,
            upTo: start.version,
            in: id,
            timeline,
            schema
        )
        try keepWhatUploadsNeed(of: client, epochs, in: id)
        try transaction.append(
            ViewEpoch(
                start: start.version,
                view: view.stored,
                clientVersion: client.upload.clientVersion
            ),
            of: ident,
            in: id
        )
        return Opened(
            history: batch,
            plan: BootstrapPlan(
                file: id,
                schema: schema,
                earlier: earlier,
                view: view,
                rights: rights,
                start: start,
                upload: client.upload,
                now: moment,
                exceptions: exceptions
            )
        )
    }

    /// The history that the client lacks. A new one lacks none: its bootstrap has everything.
    private func history(
        for client: ClientFile,
        from cursor: DownloadCursor,
        in id: ServerFileID,
        _ moment: OriginTimestamp
    ) throws -> ViewBatch? {
        guard cursor != .zero || client.upload != .zero else { return nil }
        let scan = ViewScan(
            settings: settings,
            softLimitInBytes: settings.views.rangeSizeInBytes,
            now: moment
        )
        let batch = try scan.run(for: client.ident, from: cursor, in: id, of: transaction)
        guard let batch else { throw IntegrationRefusal.unknownClientFile }
        guard batch.isComplete else { throw ViewTooLarge() }
        if let range = batch.range { try transaction.append(range, of: client.ident, in: id) }
        return batch
    }

    private func view(
        _ subscription: Subscription,
        of client: ClientFile,
        in file: ServerFile,
        _ schema: RealmSchema
    ) throws -> (ClientView, UserRightsSignature) {
        guard let user = try transaction.user(client.owner, of: file.app) else {
            throw SessionFault.permissionDenied
        }
        let rights = try settings.rights(of: user, in: file.app, schema, transaction)
        let view = try settings.view(
            subscription.body,
            of: rights,
            schema,
            acceptsUnknownClasses: acceptsUnknownClasses
        )
        return (view, rights.signature)
    }

    private func exceptions(
        after start: ServerVersion,
        since interrupted: ServerVersion?,
        upTo end: ServerVersion,
        in id: ServerFileID,
        _ timeline: ViewTimeline,
        _ schema: RealmSchema
    ) throws -> [BootstrapPlan.Exception] {
        let touches = try Touches(
            of: id,
            after: start,
            upTo: end,
            limitInBytes: settings.views.rangeSizeInBytes,
            transaction
        )
        let images = ObjectImages(schema, of: id, settings)
        var sizeInBytes = 0
        var exceptions: [BootstrapPlan.Exception] = []
        for object in touches.objects {
            let document = try transaction.document(object, in: id)
            sizeInBytes += document?.count ?? 0
            guard sizeInBytes <= settings.views.rangeSizeInBytes else { throw ViewTooLarge() }
            var stays: Bool?
            if let interrupted {
                let course = try timeline.course(
                    of: object,
                    touches: touches[object].filter { $0.version > interrupted },
                    present: try document.flatMap { (json) throws(StoreError) in
                        try images.object(document: json, object)
                    },
                    after: interrupted,
                    upTo: end,
                    images
                )
                stays = course.isContinuous
            }
            exceptions.append(.init(object: object, document: document, stays: stays))
        }
        return exceptions
    }

    /// Uploads are based on the client's acknowledged version or later ones.
    private func keepWhatUploadsNeed(
        of client: ClientFile,
        _ epochs: [ViewEpoch],
        in id: ServerFileID
    ) throws(StoreError) {
        let base = client.upload.lastIntegratedServerVersion
        try transaction.removeViewRanges(of: client.ident, in: id, upTo: base)
        guard let first = epochs.last(where: { $0.start <= base }) else { return }
        try transaction.removeViewEpochs(
            of: client.ident,
            in: id,
            from: .zero,
            to: ServerVersion(first.start.rawValue - 1)
        )
    }
}
