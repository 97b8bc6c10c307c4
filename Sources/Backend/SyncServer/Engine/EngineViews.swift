import Changesets
import Permissions
import Query
import ServerStore
import Surroundings
import SyncProtocol
import Versions

/// The store operations of flexible sync.
struct EngineViews: Sendable {
    let store: any Store
    let clock: WallClock
    let downloadLimitInBytes: Int

    /// Collects the changes of a view after a position; nil if the client file was removed.
    func scanView(
        for ident: FileIdent,
        from cursor: DownloadCursor,
        in file: ServerFileID,
        guarding session: SessionGuard? = nil,
        _ settings: FlexibleSettings
    ) async throws -> ViewBatch? {
        let now = clock.millisecondsSince1970()
        let scan = ViewScan(
            settings: settings,
            softLimitInBytes: downloadLimitInBytes,
            now: OriginTimestamp(millisecondsSince1970: now) ?? OriginTimestamp(0)
        )
        let reads = ExpectedReads(
            file: .id(file),
            client: ident,
            hasSchema: true,
            history: ExpectedReads.History(after: cursor.serverVersion, reader: ident)
        )
        let batch = try await store.read(guarding: session, expecting: reads) {
            try scan.run(for: ident, from: cursor, in: file, of: $0)
        }
        if let range = batch?.range {
            // Before the client can base an upload on a version within it.
            try await store.write(.file(file), for: .upkeep, guarding: session) {
                try $0.append(range, of: ident, in: file)
            }
        }
        return batch
    }

    /// The growth of a history after a version, for all sessions; nil if the file does not exist any more, or
    /// its app has no flexible sync.
    func growth(
        of file: ServerFileID,
        after start: ServerVersion,
        _ settings: @escaping @Sendable (AppID) -> FlexibleSettings?
    ) async throws -> FileGrowth? {
        let reads = ExpectedReads(
            file: .id(file),
            hasSchema: true,
            history: ExpectedReads.History(after: start, reader: .server)
        )
        return try await store.read(expecting: reads) { snapshot in
            guard let app = try snapshot.file(file)?.app, let settings = settings(app) else {
                return nil
            }
            return try GrowthReader(file: file, settings: settings).read(
                after: start,
                from: snapshot
            )
        }
    }

    /// A part of what a subscription brings.
    enum Delivery: Sendable {
        case history(ViewBatch)
        case bootstrap(ServerSession.BootstrapPart, of: ClientView, under: UserRightsSignature)
    }

    /// Sends a client the history up to a new view, and the view's bootstrap. Writers and other readers
    /// do not wait for it.
    ///
    /// Throws `SubscriptionSetError`, `IntegrationRefusal`, `ViewTooLarge` or `StoreError`.
    func subscribe(
        _ subscription: Subscription,
        as query: QueryVersion,
        from cursor: DownloadCursor,
        in file: ServerFileID,
        guarding session: SessionGuard? = nil,
        _ context: FlexibleContext,
        _ deliver: @Sendable (Delivery) async throws -> Void
    ) async throws {
        let position = try await catchUp(
            subscription,
            from: cursor,
            in: file,
            guarding: session,
            context.settings,
            deliver
        )
        let now = clock.millisecondsSince1970()
        try await store.holdingState { held in
            let state = try await held.read { try $0.file(file)?.currentVersion ?? .zero }
            let opened = try await store.write(
                .file(file),
                for: .upkeep,
                guarding: session
            ) { transaction in
                try BootstrapOpening(
                    transaction: transaction,
                    settings: context.settings,
                    acceptsUnknownClasses: context.isDevelopmentMode,
                    now: now
                ).run(subscription, from: position, with: state, in: file)
            }
            if let history = opened.history { try await deliver(.history(history)) }
            var bootstrap = Bootstrap(opened.plan, context.settings.views)
            while true {
                let (changesets, rest) = try await held.read { [bootstrap] snapshot in
                    var bootstrap = bootstrap
                    return (try bootstrap.next(from: snapshot), bootstrap)
                }
                bootstrap = rest
                guard let changesets else { break }
                try await deliver(
                    .bootstrap(
                        ServerSession.BootstrapPart(
                            query: query,
                            changesets: changesets,
                            progress: opened.plan.progress,
                            estimate: bootstrap.estimate,
                            isLast: bootstrap.isComplete
                        ),
                        of: opened.plan.view,
                        under: opened.plan.rights
                    )
                )
                if bootstrap.isComplete { break }
            }
        }
    }

    /// Sends most of the history in advance, so that little is left for the transaction. Before the
    /// first bootstrap nothing, nor after an interrupted one: the views in between belong to one range.
    private func catchUp(
        _ subscription: Subscription,
        from cursor: DownloadCursor,
        in file: ServerFileID,
        guarding session: SessionGuard?,
        _ settings: FlexibleSettings,
        _ deliver: @Sendable (Delivery) async throws -> Void
    ) async throws -> DownloadCursor {
        let mayCatchUp = try await store.read(guarding: session) { snapshot in
            let epochs = try snapshot.viewEpochs(of: subscription.client, in: file)
            return !epochs.isEmpty && epochs.allSatisfy { $0.start <= cursor.serverVersion }
        }
        guard mayCatchUp else { return cursor }
        var position = cursor
        while true {
            let batch = try await scanView(
                for: subscription.client,
                from: position,
                in: file,
                guarding: session,
                settings
            )
            guard let batch else { throw IntegrationRefusal.unknownClientFile }
            // The last, small part comes with the transaction.
            guard !batch.isComplete else { return position }
            try await deliver(.history(batch))
            position = batch.progress.download
        }
    }

    /// Decides whether a client's view must begin again after its IDENT (flexible sync, 8.3), in the
    /// transaction of the IDENT. Removes views whose bootstrap never reached the client.
    static func identify(
        _ client: ClientFile,
        _ file: ServerFile,
        at cursor: DownloadCursor,
        _ body: SubscriptionSetBody,
        _ context: FlexibleContext,
        _ rejected: [RejectedChangeset],
        _ transaction: any StoreTransaction
    ) throws -> SyncEngine.Identified {
        var epochs = try transaction.viewEpochs(of: client.ident, in: file.id)
        guard let user = try transaction.user(client.owner, of: file.app) else {
            throw SessionFault.permissionDenied
        }
        let schema = try transaction.schema(of: file.id)
        let rights = try context.settings.rights(of: user, in: file.app, schema, transaction)
        let view: ClientView
        do {
            view = try context.settings.view(
                body,
                of: rights,
                schema,
                acceptsUnknownClasses: context.isDevelopmentMode
            )
        } catch {
            // It was valid before: a field is not queryable any more (flexible sync, 8.4).
            guard !epochs.isEmpty else { throw error }
            throw SubscriptionsRevoked(reason: error.description)
        }
        func identified(needsBootstrap: Bool) -> SyncEngine.Identified {
            SyncEngine.Identified(
                client: client,
                view: needsBootstrap ? .needsBootstrap : .inForce(view, of: body),
                rights: rights.signature,
                rejected: rejected
            )
        }
        if let interrupted = epochs.first(where: { $0.start > cursor.serverVersion }),
            interrupted.clientVersion == client.upload.clientVersion,
            epochs[0].start <= cursor.serverVersion || cursor.serverVersion == .zero
        {
            // Nothing was judged by it.
            epochs.removeAll { $0.start > cursor.serverVersion }
            try transaction.removeViewEpochs(
                of: client.ident,
                in: file.id,
                from: interrupted.start,
                to: file.currentVersion
            )
        }
        guard let newest = epochs.last else {
            // A copied file: its objects are not known.
            guard cursor.serverVersion == .zero else { throw SessionFault.badClientFileIdent }
            return identified(needsBootstrap: true)
        }
        let isCurrent = newest.start <= cursor.serverVersion && newest.view == view.stored
        return identified(needsBootstrap: !isCurrent)
    }

    /// The present rights of the user of a client file; nil if there is no such user or client file any
    /// more. Throws `SubscriptionSetError` if the subscriptions in force are not valid any more.
    func rights(
        of user: ConnectedUser,
        with client: FileIdent,
        in file: ServerFileID,
        subscribing body: SubscriptionSetBody,
        _ context: FlexibleContext
    ) async throws -> UserRightsSignature? {
        try await store.read { snapshot in
            guard let known = try snapshot.user(user.id, of: user.app),
                try snapshot.clientFile(client, in: file) != nil
            else { return nil }
            let schema = try snapshot.schema(of: file)
            let rights = try context.settings.rights(of: known, in: user.app, schema, snapshot)
            _ = try context.settings.view(
                body,
                of: rights,
                schema,
                acceptsUnknownClasses: context.isDevelopmentMode
            )
            return rights.signature
        }
    }
}
