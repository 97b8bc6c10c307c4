import Changesets
import Permissions
import Query
import ServerMetrics
import ServerStore
import SyncProtocol
import Versions

/// The work of a connection's sessions of flexible sync: views, bootstraps, rights.
///
/// Runs on the connection's executor, so that nothing happens between a look at a session and its effects.
enum ConnectionViews {
    typealias SessionKey = SyncConnection.SessionKey

    private static func context(of connection: isolated SyncConnection) -> FlexibleContext? {
        let app = connection.app
        return app.flexible.map {
            FlexibleContext(settings: $0, isDevelopmentMode: app.isDevelopmentMode)
        }
    }

    /// The subscriptions in an IDENT; nil in partition-based sync.
    static func subscriptions(
        of ident: ClientMessage.Ident,
        on connection: isolated SyncConnection
    ) throws -> (body: SubscriptionSetBody, context: FlexibleContext)? {
        guard let query = ident.query else { return nil }
        // The app had flexible sync when the connection began.
        guard let context = context(of: connection) else { throw SessionFault.sessionClosed }
        return (try body(of: query, context), context)
    }

    private static func body(
        of query: ClientMessage.Query,
        _ context: FlexibleContext
    ) throws(SubscriptionSetError) -> SubscriptionSetBody {
        try SubscriptionSetBody(
            decoding: query.body.bytes,
            limits: context.settings.subscriptions
        )
    }

    static func scan(
        from cursor: DownloadCursor,
        of client: ClientFile,
        in file: ServerFileID,
        _ settings: FlexibleSettings,
        _ key: SessionKey,
        on connection: isolated SyncConnection
    ) async throws {
        let session = ViewSession(of: client, in: file)
        let fanout = fanout(of: connection)
        let start = start(of: session, from: cursor, fanout)
        let (service, app) = (connection.service, connection.app.id)
        let batch = try await connection.retryWhileAway {
            let told = connection.work[key]?.told
            return try await service.meter.time({ .scanned(app, seconds: $0) }) {
                try await service.engine.views.scanView(
                    for: client.ident,
                    from: start,
                    in: file,
                    guarding: told,
                    settings
                )
            }
        }
        guard let batch else { throw IntegrationRefusal.unknownClientFile }
        fanout.scanned(session, upTo: batch.progress.download.serverVersion)
        deliver(.history(batch), key, on: connection)
    }

    private static func fanout(of connection: isolated SyncConnection) -> Fanout {
        connection.service.registry.fanout
    }

    /// Skips history in front of which nothing concerns the session (flexible sync, 13.4).
    private static func start(
        of session: ViewSession,
        from cursor: DownloadCursor,
        _ fanout: Fanout
    ) -> DownloadCursor {
        DownloadCursor(
            serverVersion: fanout.start(of: session, from: cursor.serverVersion),
            lastIntegratedClientVersion: cursor.lastIntegratedClientVersion
        )
    }

    /// The client has a view, and has everything up to a position.
    static func attach(
        _ view: ClientView,
        of body: SubscriptionSetBody,
        at position: ServerVersion,
        _ key: SessionKey,
        on connection: isolated SyncConnection
    ) {
        connection.work.subscribed(key, to: body)
        guard let session = connection.work[key], !session.hasEnded, let file = session.file,
            let client = session.client
        else { return }
        let newest = fanout(of: connection)
            .attach(ViewSession(of: client, in: file), view, at: position)
        guard let newest else { return }
        connection.perform(connection.machine.historyGrew(key, to: newest))
        // What was examined meanwhile may have been the user's custom data.
        connection.reviewRights()
    }

    /// Sends a subscription's bootstrap, or refuses it.
    static func subscribe(
        _ query: ClientMessage.Query,
        _ session: SessionWork.Session,
        _ key: SessionKey,
        on connection: isolated SyncConnection
    ) async {
        guard let file = session.file, let client = session.client else { return }
        await connection.beginScan()
        defer { connection.endScan() }
        guard !connection.hasEnded, let cursor = connection.machine.beginSubscription(key) else {
            return
        }
        do {
            guard let context = context(of: connection) else { throw SessionFault.sessionClosed }
            let body = try body(of: query, context)
            let subscription = Subscription(
                client: client.ident,
                sessionEpoch: client.sessionEpoch,
                body: body
            )
            try await connection.service.engine.views.subscribe(
                subscription,
                as: query.version,
                from: start(
                    of: ViewSession(of: client, in: file),
                    from: cursor,
                    fanout(of: connection)
                ),
                in: file,
                guarding: session.told,
                context
            ) { delivery in
                try await deliverWithRoom(delivery, of: body, key, on: connection)
            }
        } catch let error as SubscriptionSetError {
            connection.perform(
                connection.machine.refused(key, query.version, message: error.description)
            )
        } catch {
            connection.fail(key, error)
        }
    }

    /// After a change of rules: sessions whose user has other rights than at their beginning must bind
    /// again, which clients below version 14 cannot (flexible sync, 8.4). So must those that have
    /// subscribed to a class before it was added.
    static func compareRights(of connection: isolated SyncConnection) async {
        for (key, session) in connection.work.sessions {
            guard let file = session.file, let client = session.client else {
                connection.work.missReview(key)
                continue
            }
            var rights: UserRightsSignature?
            if let context = context(of: connection) {
                do {
                    rights = try await connection.service.engine.views.rights(
                        of: connection.user,
                        with: client.ident,
                        in: file,
                        subscribing: session.subscriptions ?? .empty,
                        context
                    )
                } catch let error as SubscriptionSetError {
                    // A field is not queryable any more.
                    connection.fail(key, SubscriptionsRevoked(reason: error.description))
                    continue
                } catch {
                    // Then it must bind again: its work reports the failure of the store.
                    rights = nil
                }
            }
            let change = change(of: session, to: rights)
            guard change != .none else { continue }
            guard connection.work[key]?.rights == session.rights else {
                // It got a new view meanwhile.
                connection.reviewRights()
                continue
            }
            // Its next IDENT tells a client that was removed.
            let isOld = connection.subProtocol.version < firstVersionThatRebinds
            switch change {
            case .none: break
            case .newClass where isOld: break
            case .rights where isOld && rights != nil: connection.fail(key, .permissionsChanged)
            case .newClass, .rights: connection.fail(key, .rulesChanged)
            }
        }
    }

    private static func change(
        of session: SessionWork.Session,
        to rights: UserRightsSignature?
    ) -> UserRightsSignature.Change {
        guard let rights, let earlier = session.rights else { return .rights }
        let subscribed = session.subscriptions ?? .empty
        return earlier.change(to: rights, subscribed: subscribed.queries.keys)
    }

    private static let firstVersionThatRebinds = 14

    private static func deliver(
        _ delivery: EngineViews.Delivery,
        of body: SubscriptionSetBody? = nil,
        _ key: SessionKey,
        on connection: isolated SyncConnection
    ) {
        switch delivery {
        case .history(let batch):
            ConnectionDownloads.noteSent(batch.progress, key, on: connection)
            connection.work.told(key, batch.progress.latestServerVersion)
            let scanned = ServerSession.Scanned(
                changesets: batch.changesets,
                progress: batch.progress,
                downloadableBytes: 0
            )
            connection.perform(connection.machine.scanned(key, scanned))
        case .bootstrap(let part, let view, let rights):
            // Every part has the position behind the last one.
            if part.isLast { ConnectionDownloads.noteSent(part.progress, key, on: connection) }
            connection.work.told(key, part.progress.latestServerVersion)
            connection.perform(connection.machine.bootstrapped(key, part))
            guard part.isLast, let body else { return }
            connection.work.viewed(key, under: rights)
            attach(
                view,
                of: body,
                at: part.progress.download.serverVersion,
                key,
                on: connection
            )
        }
    }

    /// Waits for the client to receive most of the parts before. A state of the store is held
    /// meanwhile, so a client that receives nothing must come again.
    private static func deliverWithRoom(
        _ delivery: EngineViews.Delivery,
        of body: SubscriptionSetBody,
        _ key: SessionKey,
        on connection: isolated SyncConnection
    ) async throws {
        guard await connection.waitForRoom(within: connection.service.timing.storeTimeout) else {
            throw SlowClient()
        }
        guard connection.work[key]?.hasEnded == false else { throw CancellationError() }
        deliver(delivery, of: body, key, on: connection)
    }
}

/// A client received no part of its bootstrap for a while.
struct SlowClient: Error {}
