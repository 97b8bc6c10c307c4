import Changesets
import Documents
import Logging
import ServerMetrics
import ServerStore
import SyncProtocol
import Versions

/// Integrates the uploads of a connection's sessions, and reports rejected writes.
///
/// Runs on the connection's executor, so that nothing happens between a look at a session and its effects.
enum ConnectionUploads {
    typealias SessionKey = SyncConnection.SessionKey

    static func integrate(
        _ uploads: [UploadCheck.Admitted],
        _ session: SessionWork.Session,
        _ key: SessionKey,
        on connection: isolated SyncConnection
    ) async {
        guard let file = session.file, let client = session.client else { return }
        do {
            do {
                try await integrate(uploads[...], of: client, into: file, key, on: connection)
            } catch is IntegrationRefusal where uploads.count > 1 {
                // Uploads before the offender are integrated.
                for position in uploads.indices {
                    try await integrate(
                        uploads[position...position],
                        of: client,
                        into: file,
                        key,
                        on: connection
                    )
                }
            }
        } catch IntegrationRefusal.superseded {
            connection.leaveConnection(key, .normal, "another connection serves this file")
        } catch {
            connection.fail(key, error)
        }
    }

    /// Integrates the uploads, all of them or none.
    private static func integrate(
        _ uploads: ArraySlice<UploadCheck.Admitted>,
        of client: ClientFile,
        into file: ServerFileID,
        _ key: SessionKey,
        on connection: isolated SyncConnection
    ) async throws {
        let mayStayPlain = connection.app.flexible == nil
        guard let upload = await parse(uploads, of: client, mayStayPlain: mayStayPlain) else {
            return
        }
        let start = ContinuousClock.now
        let outcome = try await connection.retryWhileAway {
            let rules = try await connection.rules(for: connection.work[key]?.partition)
            return try await connection.service.engine.integrate(
                upload,
                into: file,
                guarding: connection.work[key]?.told,
                policy: connection.app.schemaPolicy,
                by: SyncEngine.Uploader(id: connection.user.id, app: connection.user.app),
                rules: rules,
                ruleData: connection.app.ruleData,
                quotas: connection.app.quotas,
                flexible: connection.app.flexible,
                partitionKey: connection.app.partitionKey
            )
        }
        connection.work.integrated(key, upTo: upload.progress.clientVersion, outcome)
        report(outcome.refused, key, on: connection)
        log(outcome.healing, client.ident, on: connection)
        // An UPLOAD without changesets creates no version, and gets no response (wire protocol,
        // 12.3).
        guard outcome.integratedCount > 0 else { return }
        connection.service.meter.note(
            outcome,
            of: connection.user.app,
            sizeInBytes: upload.sizeInBytes,
            since: start
        )
        connection.service.backplane.announce(outcome.currentVersion, of: file)
        for updates in outcome.forbidden {
            let isOld = connection.machine.subProtocol.version < firstVersionWithWarnings
            connection.fail(
                key,
                .forbidden(
                    isOld ? .writeNotAllowed(updates) : .asymmetricWriteNotAllowed(updates),
                    updates.updates.first?.reason
                )
            )
        }
    }

    /// Older clients know no rejected writes but those after which they start over.
    private static let firstVersionWithWarnings = 5

    /// Not on the connection's own executor: decoding large changesets takes time.
    @concurrent
    private static func parse(
        _ uploads: ArraySlice<UploadCheck.Admitted>,
        of client: ClientFile,
        mayStayPlain: Bool
    ) async -> Upload? {
        guard let last = uploads.last else { return nil }
        return Upload(
            client: client.ident,
            sessionEpoch: client.sessionEpoch,
            changesets: uploads.flatMap(\.changesets),
            progress: last.progress,
            lockedServerVersion: last.lockedServerVersion,
            mayStayPlain: mayStayPlain
        )
    }

    /// Reports rejected writes. The client must get the report before the compensating version; its
    /// session continues (wire protocol, 13.5).
    static func report(
        _ refused: [RejectedChangeset],
        _ key: SessionKey,
        on connection: isolated SyncConnection
    ) {
        for write in refused {
            connection.perform(
                connection.machine.fail(
                    key,
                    .compensatingWrite(write.updates, undoneAt: write.compensatedAt),
                    message: write.updates.updates.first?.reason ?? ""
                )
            )
        }
    }

    /// Once for each upload: the client is corrected, but its program or the server may have a bug.
    private static func log(
        _ healing: Healing,
        _ client: FileIdent,
        on connection: isolated SyncConnection
    ) {
        guard let first = healing.misfits.first else { return }
        connection.service.correctedUploads.count(one: connection.app.id)
        connection.service.meter.note(.corrected(connection.app.id))
        connection.logger.log(
            level: connection.level(ofFailure: .warning),
            "upload did not fit, client corrected",
            metadata: [
                "ident": "\(client.rawValue)",
                "class": "\(first.object.className)",
                "key": "\(KeyText.print(first.object.key))",
                "reason": "\(first.problem)",
                "objects": "\(healing.misfits.count)",
                "instructions": "\(healing.misfits.reduce(0) { $0 + $1.count })",
                "losses": "\(healing.losses.count)",
            ]
        )
    }
}
