import Changesets
import Documents
import Logging
import Permissions
import Scopes
import ServerMetrics
import ServerStore
import SyncProtocol
import Transport
import Versions

/// The store work of sessions.
extension SyncConnection {
    /// Carries out a session's steps, one after the other, until none is left.
    func doWork(of key: SessionKey) async {
        while let (step, session) = work.next(of: key) {
            switch step {
            case .open(let path, let needsFileIdent):
                await open(path.bytes, needsFileIdent: needsFileIdent, key)
            case .validate(let ident):
                await validate(ident, session, key)
            case .integrate(let uploads):
                await integrate(uploads, session, key)
            case .scanDownload(let cursor):
                await scanDownload(from: cursor, session, key)
            case .subscribe(let query):
                await subscribe(query, session, key)
            }
            noteFinished(step)
        }
    }

    private func open(_ path: [UInt8], needsFileIdent: Bool, _ key: SessionKey) async {
        guard let partition = partition(at: path) else { return fail(key, .illegalPartition) }
        do {
            let opened = try await retryWhileAway {
                try await service.engine.open(
                    partition,
                    of: app.id,
                    for: user.id,
                    needsFileIdent: needsFileIdent,
                    rules: rules,
                    ruleData: app.ruleData,
                    quotas: app.quotas,
                    schema: service.apps.syncApp(app.id)?.schema
                )
            }
            if let version = opened.published {
                service.backplane.announce(version, of: opened.file)
            }
            work.opened(key, opened.file)
            perform(machine.opened(key, assigned: opened.assigned))
        } catch let error as StoreError where error.kind == .unacceptable {
            fail(key, .illegalPartition)
        } catch {
            fail(key, error)
        }
    }

    /// The file that a session binds to: all clients of flexible sync have the same. Nil if the path
    /// is not valid.
    private func partition(at path: [UInt8]) -> Partition? {
        guard machine.subProtocol.mode == .partitionBased else { return .flexible }
        return Partition(extendedJSON: path).flatMap { app.accepts($0) ? $0 : nil }
    }

    private func validate(
        _ ident: ClientMessage.Ident,
        _ session: SessionWork.Session,
        _ key: SessionKey
    ) async {
        guard let file = session.file else { return }
        let client: ClientFile
        let identified: SyncEngine.Identified
        let refused: [RejectedChangeset]
        do {
            let subscriptions = try subscriptions(of: ident)
            identified = try await retryWhileAway {
                try await service.engine.identify(
                    ident,
                    in: file,
                    for: user.id,
                    offlineLimitInMilliseconds: app.offlineLimitInMilliseconds,
                    subscribing: subscriptions
                )
            }
            client = identified.client
            refused = try await service.engine.rejectedChangesets(
                of: client.ident,
                after: ident.download.serverVersion,
                in: file,
                isFlexible: subscriptions != nil
            )
        } catch {
            return fail(key, error)
        }
        // The session may have ended during the store's work.
        guard let current = work[key], !current.hasEnded else { return }
        let id = ClientFileID(file: file, ident: client.ident)
        let previous = service.registry.attach(id, epoch: client.sessionEpoch, to: self)
        guard previous !== self else {
            return perform(
                machine.fail(.boundInOtherSession, message: "the file already has a session")
            )
        }
        work.identified(
            key,
            client,
            in: file,
            latest: ident.latestServerVersion,
            rights: identified.rights
        )
        let effects = machine.identified(
            key,
            upload: client.upload,
            locked: client.lockedServerVersion,
            needsBootstrap: identified.needsBootstrap
        )
        perform(effects)
        if case .inForce(let view, let body) = identified.view {
            attach(view, of: body, at: ident.download.serverVersion, key)
        }
        report(refused, key)
        // The client uses this connection now: close the previous one (wire protocol, 12.5), also
        // one at another process.
        service.backplane.takeOver(id, epoch: client.sessionEpoch)
        await previous?.end(.normal, reason: "another connection serves this file")
    }

    private func integrate(
        _ uploads: [UploadCheck.Admitted],
        _ session: SessionWork.Session,
        _ key: SessionKey
    ) async {
        guard let file = session.file, let client = session.client else { return }
        do {
            do {
                try await integrate(uploads[...], of: client, into: file, key)
            } catch is IntegrationRefusal where uploads.count > 1 {
                // Uploads before the offender are integrated.
                for position in uploads.indices {
                    try await integrate(uploads[position...position], of: client, into: file, key)
                }
            }
        } catch IntegrationRefusal.superseded {
            leaveConnection(key, .normal, "another connection serves this file")
        } catch {
            fail(key, error)
        }
    }

    /// Integrates the uploads, all of them or none.
    private func integrate(
        _ uploads: ArraySlice<UploadCheck.Admitted>,
        of client: ClientFile,
        into file: ServerFileID,
        _ key: SessionKey
    ) async throws {
        guard let upload = await Self.parse(uploads, of: client) else { return }
        let start = ContinuousClock.now
        let outcome = try await retryWhileAway {
            try await service.engine.integrate(
                upload,
                into: file,
                guarding: work[key]?.told,
                policy: SchemaPolicy(allowsAdditions: app.isDevelopmentMode),
                by: SyncEngine.Uploader(id: user.id, app: user.app),
                rules: rules,
                ruleData: app.ruleData,
                quotas: app.quotas,
                flexible: app.flexible
            )
        }
        work.integrated(key, upTo: upload.progress.clientVersion, outcome.ownVersions)
        report(outcome.refused, key)
        log(outcome.healing, client.ident)
        // An UPLOAD without changesets creates no version, and gets no response (wire protocol,
        // 12.3).
        guard outcome.integratedCount > 0 else { return }
        note(outcome, ofSize: upload.sizeInBytes, since: start)
        service.backplane.announce(outcome.currentVersion, of: file)
        for updates in outcome.forbidden {
            let isOld = machine.subProtocol.version < Self.firstVersionWithWarnings
            fail(
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
        of client: ClientFile
    ) async -> Upload? {
        guard let last = uploads.last else { return nil }
        return Upload(
            client: client.ident,
            sessionEpoch: client.sessionEpoch,
            changesets: uploads.flatMap(\.changesets),
            progress: last.progress,
            lockedServerVersion: last.lockedServerVersion
        )
    }

    /// Reports rejected writes. The client must get the report before the compensating version; its
    /// session continues (wire protocol, 13.5).
    private func report(_ refused: [RejectedChangeset], _ key: SessionKey) {
        for write in refused {
            perform(
                machine.fail(
                    key,
                    .compensatingWrite(write.updates, undoneAt: write.compensatedAt),
                    message: write.updates.updates.first?.reason ?? ""
                )
            )
        }
    }

    /// Once for each upload: the client is corrected, but its program or the server may have a bug.
    private func log(_ healing: Healing, _ client: FileIdent) {
        guard let first = healing.misfits.first else { return }
        service.correctedUploads.count(one: app.id)
        service.meter.note(.corrected(app.id))
        logger.log(
            level: level(ofFailure: .warning),
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

    private func scanDownload(
        from cursor: DownloadCursor,
        _ session: SessionWork.Session,
        _ key: SessionKey
    ) async {
        guard let file = session.file, let client = session.client else { return }
        await beginScan()
        defer { endScan() }
        guard !hasEnded else { return }
        do {
            if let settings = app.flexible, machine.subProtocol.mode == .flexible {
                return try await scanView(from: cursor, of: client, in: file, settings, key)
            }
            // Its own uploads need no look at the store.
            if let batch = session.ownVersions?.batch(from: cursor), !machine.coversMark(key) {
                work.told(key, batch.progress.latestServerVersion)
                return perform(machine.scanned(key, batch.scanned))
            }
            let batch = try await retryWhileAway {
                try await service.meter.time({ .scanned(app.id, seconds: $0) }) {
                    try await service.engine.scan(
                        for: client.ident,
                        from: cursor,
                        in: file,
                        guarding: session.told
                    )
                }
            }
            guard let batch else { throw IntegrationRefusal.unknownClientFile }
            work.told(key, batch.progress.latestServerVersion)
            perform(machine.scanned(key, batch.scanned))
        } catch {
            fail(key, error)
        }
    }
}

// MARK: Failures of the store

extension SyncConnection {
    /// Retries, with a pause before each attempt, while it is not the client's fault that the store
    /// cannot be used: as long as another program keeps it locked, and for a while if its server is out of
    /// reach.
    func retryWhileAway<Result>(
        _ body: () async throws -> Result
    ) async throws -> Result {
        var pause = Duration.milliseconds(50)
        var waited = Duration.zero
        while true {
            do {
                return try await body()
            } catch let error as StoreError where mayRetry(after: error, waited) {
                logger.notice(
                    "the store is away",
                    metadata: ["code": "\(error.code)", "reason": "\(error)"]
                )
                try await service.timing.clock.sleep(for: pause)
                waited += pause
                pause = min(pause * 2, .seconds(2))
            } catch let failure as SinkFailure where failure.kind == .full && !hasEnded {
                // Its program decides how long that takes. The session hears of a long wait like of one
                // for the store.
                logger.notice(
                    "the sink of asymmetric classes is full",
                    metadata: ["code": "\(failure.code)", "reason": "\(failure)"]
                )
                try await service.timing.clock.sleep(for: pause)
                pause = min(pause * 2, .seconds(2))
            }
        }
    }

    private func mayRetry(after error: StoreError, _ waited: Duration) -> Bool {
        guard !hasEnded else { return false }
        return switch error.kind {
        case .locked: true
        case .unreachable: waited < service.timing.storeTimeout
        case .unusable, .diskFull, .failed, .changed, .unacceptable: false
        }
    }

    /// Ends the session with an error of its work; if the store is not the one that the client was told
    /// of, the connection, so that IDENT is checked again.
    func fail(_ key: SessionKey, _ error: any Error) {
        guard let error = error as? StoreError, error.kind == .changed else {
            return fail(key, SessionFailure(error))
        }
        logger.warning(
            "the store has changed",
            metadata: ["code": "\(error.code)", "reason": "\(error)"]
        )
        leaveConnection(key, .goingAway, "the store has changed")
    }

    /// Ends the connection of a session that must not integrate anything more. If the session has ended,
    /// its client has reconnected, and will send its uploads again.
    private func leaveConnection(_ key: SessionKey, _ code: CloseCode, _ reason: String) {
        work.fail(key)
        guard let current = work[key], !current.hasEnded else { return }
        end(code, reason: reason)
    }
}

extension SyncApp {
    fileprivate func accepts(_ partition: Partition) -> Bool {
        guard let expected = partitionType, let type = partition.kind else { return true }
        return type == expected
    }
}

extension DownloadScan.Batch {
    fileprivate var scanned: ServerSession.Scanned {
        ServerSession.Scanned(
            changesets: changesets,
            progress: progress,
            downloadableBytes: downloadableBytes
        )
    }
}
