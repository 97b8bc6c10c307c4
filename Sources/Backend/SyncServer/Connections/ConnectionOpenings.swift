import Changesets
import Scopes
import ServerStore
import SyncProtocol
import Versions

/// Opens the files of a connection's sessions, and checks their idents.
///
/// Runs on the connection's executor, so that nothing happens between a look at a session and its effects.
enum ConnectionOpenings {
    typealias SessionKey = SyncConnection.SessionKey

    static func open(
        _ path: [UInt8],
        needsFileIdent: Bool,
        _ key: SessionKey,
        on connection: isolated SyncConnection
    ) async {
        guard let partition = partition(at: path, on: connection) else {
            return connection.fail(key, .illegalPartition)
        }
        do {
            let opened = try await connection.retryWhileAway {
                let rules = try await connection.rules(for: partition)
                return try await connection.service.engine.open(
                    partition,
                    of: connection.app.id,
                    for: connection.user.id,
                    needsFileIdent: needsFileIdent,
                    rules: rules,
                    ruleData: connection.app.ruleData,
                    quotas: connection.app.quotas,
                    schema: connection.service.apps.syncApp(connection.app.id)?.schema
                )
            }
            if let version = opened.published {
                connection.service.backplane.announce(version, of: opened.file)
            }
            connection.work.opened(key, opened.file, of: partition)
            connection.perform(connection.machine.opened(key, assigned: opened.assigned))
        } catch let error as StoreError where error.kind == .unacceptable {
            connection.fail(key, .illegalPartition)
        } catch {
            connection.fail(key, error)
        }
    }

    /// The file that a session binds to: all clients of flexible sync have the same. Nil if the path
    /// is not valid.
    private static func partition(
        at path: [UInt8],
        on connection: isolated SyncConnection
    ) -> Partition? {
        guard connection.machine.subProtocol.mode == .partitionBased else { return .flexible }
        return Partition(extendedJSON: path).flatMap { connection.app.accepts($0) ? $0 : nil }
    }

    static func validate(
        _ ident: ClientMessage.Ident,
        _ session: SessionWork.Session,
        _ key: SessionKey,
        on connection: isolated SyncConnection
    ) async {
        guard let file = session.file else { return }
        let client: ClientFile
        let identified: SyncEngine.Identified
        do {
            let subscriptions = try ConnectionViews.subscriptions(of: ident, on: connection)
            identified = try await connection.retryWhileAway {
                try await connection.service.engine.identify(
                    ident,
                    in: file,
                    for: connection.user.id,
                    offlineLimitInMilliseconds: connection.app.offlineLimitInMilliseconds,
                    subscribing: subscriptions
                )
            }
            client = identified.client
        } catch {
            return connection.fail(key, error)
        }
        // The session may have ended during the store's work.
        guard let current = connection.work[key], !current.hasEnded else { return }
        let id = ClientFileID(file: file, ident: client.ident)
        let previous = connection.service.registry.attach(
            id,
            epoch: client.sessionEpoch,
            to: connection
        )
        guard previous !== connection else {
            return connection.perform(
                connection.machine.fail(
                    .boundInOtherSession,
                    message: "the file already has a session"
                )
            )
        }
        connection.work.identified(
            key,
            client,
            in: file,
            latest: ident.latestServerVersion,
            rights: identified.rights
        )
        let effects = connection.machine.identified(
            key,
            upload: client.upload,
            locked: client.lockedServerVersion,
            needsBootstrap: identified.needsBootstrap
        )
        connection.perform(effects)
        if case .inForce(let view, let body) = identified.view {
            ConnectionViews.attach(
                view,
                of: body,
                at: ident.download.serverVersion,
                key,
                on: connection
            )
        }
        if current.missedReview { connection.reviewRights() }
        ConnectionUploads.report(identified.rejected, key, on: connection)
        // The client uses this connection now: close the previous one (wire protocol, 12.5), also
        // one at another process.
        connection.service.backplane.takeOver(id, epoch: client.sessionEpoch)
        await previous?.end(.normal, reason: "another connection serves this file")
    }
}

extension SyncApp {
    fileprivate func accepts(_ partition: Partition) -> Bool {
        // An app that was flexible before still has the realm of that mode.
        guard !partition.isReserved else { return false }
        guard let expected = partitionType, let type = partition.kind else { return true }
        return type == expected
    }
}
