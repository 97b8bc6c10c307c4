import Changesets
import Permissions
import Query
import ServerMetrics
import ServerStore
import SyncProtocol
import Versions

/// The work of sessions of flexible sync.
extension SyncConnection {
    private var context: SyncEngine.FlexibleContext? {
        app.flexible.map {
            SyncEngine.FlexibleContext(settings: $0, isDevelopmentMode: app.isDevelopmentMode)
        }
    }

    /// The subscriptions in an IDENT; nil in partition-based sync.
    func subscriptions(
        of ident: ClientMessage.Ident
    ) throws -> (body: SubscriptionSetBody, context: SyncEngine.FlexibleContext)? {
        guard let query = ident.query else { return nil }
        // The app had flexible sync when the connection began.
        guard let context else { throw SessionFault.sessionClosed }
        return (try body(of: query, context), context)
    }

    private func body(
        of query: ClientMessage.Query,
        _ context: SyncEngine.FlexibleContext
    ) throws(SubscriptionSetError) -> SubscriptionSetBody {
        try SubscriptionSetBody(
            decoding: query.body.bytes,
            limits: context.settings.subscriptions
        )
    }

    func scanView(
        from cursor: DownloadCursor,
        of client: ClientFile,
        in file: ServerFileID,
        _ settings: FlexibleSettings,
        _ key: SessionKey
    ) async throws {
        let id = ClientFileID(file: file, ident: client.ident)
        let start = start(of: id, from: cursor)
        let batch = try await retryWhileAway {
            try await service.meter.time({ .scanned(app.id, seconds: $0) }) {
                try await service.engine.scanView(
                    for: client.ident,
                    from: start,
                    in: file,
                    guarding: work[key]?.told,
                    settings
                )
            }
        }
        guard let batch else { throw IntegrationRefusal.unknownClientFile }
        fanout.scanned(id, upTo: batch.progress.download.serverVersion)
        deliver(.history(batch), key)
    }

    private var fanout: Fanout { service.registry.fanout }

    /// Skips history in front of which nothing concerns the session (flexible sync, 13.4).
    private func start(of client: ClientFileID, from cursor: DownloadCursor) -> DownloadCursor {
        DownloadCursor(
            serverVersion: fanout.start(of: client, from: cursor.serverVersion),
            lastIntegratedClientVersion: cursor.lastIntegratedClientVersion
        )
    }

    /// The client has a view, and has everything up to a position.
    func attach(
        _ view: ClientView,
        of body: SubscriptionSetBody,
        at position: ServerVersion,
        _ key: SessionKey
    ) {
        work.subscribed(key, to: body)
        guard let session = work[key], !session.hasEnded, let file = session.file,
            let client = session.client
        else { return }
        let id = ClientFileID(file: file, ident: client.ident)
        guard let newest = fanout.attach(id, view, at: position) else { return }
        perform(machine.historyGrew(key, to: newest))
        // What was examined meanwhile may have been the user's custom data.
        reviewRights()
    }

    /// Sends a subscription's bootstrap, or refuses it.
    func subscribe(
        _ query: ClientMessage.Query,
        _ session: SessionWork.Session,
        _ key: SessionKey
    ) async {
        guard let file = session.file, let client = session.client else { return }
        await beginScan()
        defer { endScan() }
        guard !hasEnded, let cursor = machine.beginSubscription(key) else { return }
        do {
            guard let context else { throw SessionFault.sessionClosed }
            let body = try body(of: query, context)
            let subscription = Subscription(
                client: client.ident,
                sessionEpoch: client.sessionEpoch,
                body: body
            )
            try await service.engine.subscribe(
                subscription,
                as: query.version,
                from: start(of: ClientFileID(file: file, ident: client.ident), from: cursor),
                in: file,
                guarding: session.told,
                context
            ) { delivery in
                try await self.deliverWithRoom(delivery, of: body, key)
            }
        } catch let error as SubscriptionSetError {
            perform(machine.refused(key, query.version, message: error.description))
        } catch {
            fail(key, error)
        }
    }

    /// After a change of rules: sessions whose user has other rights than at their beginning must bind
    /// again, which clients below version 14 cannot (flexible sync, 8.4).
    func compareRights() async {
        for (key, session) in work.sessions {
            guard let file = session.file, session.client != nil else { continue }
            var rights: RightsSignature?
            if let context {
                do {
                    rights = try await service.engine.rights(
                        of: user,
                        in: file,
                        subscribing: session.subscriptions ?? .empty,
                        context
                    )
                } catch let error as SubscriptionSetError {
                    // A field is not queryable any more.
                    fail(key, SubscriptionsRevoked(reason: error.description))
                    continue
                } catch {
                    // Then it must bind again: its work reports the failure of the store.
                    rights = nil
                }
            }
            guard rights == nil || rights != session.rights else { continue }
            let isOld = machine.subProtocol.version < Self.firstVersionThatRebinds
            fail(key, isOld ? .permissionsChanged : .rulesChanged)
        }
    }

    private static let firstVersionThatRebinds = 14

    private func deliver(
        _ delivery: SyncEngine.Delivery,
        of body: SubscriptionSetBody? = nil,
        _ key: SessionKey
    ) {
        switch delivery {
        case .history(let batch):
            work.told(key, batch.progress.latestServerVersion)
            let scanned = ServerSession.Scanned(
                changesets: batch.changesets,
                progress: batch.progress,
                downloadableBytes: 0
            )
            perform(machine.scanned(key, scanned))
        case .bootstrap(let part, let view):
            work.told(key, part.progress.latestServerVersion)
            perform(machine.bootstrapped(key, part))
            guard part.isLast, let body else { return }
            attach(view, of: body, at: part.progress.download.serverVersion, key)
        }
    }

    /// Waits for the client to receive most of the parts before. A state of the store is held
    /// meanwhile, so a client that receives nothing must come again.
    private func deliverWithRoom(
        _ delivery: SyncEngine.Delivery,
        of body: SubscriptionSetBody,
        _ key: SessionKey
    ) async throws {
        guard await waitForRoom(within: service.timing.storeTimeout) else {
            throw SlowClient()
        }
        guard work[key]?.hasEnded == false else { throw CancellationError() }
        deliver(delivery, of: body, key)
    }
}

/// A client received no part of its bootstrap for a while.
struct SlowClient: Error {}
