import Changesets
import Documents
import Logging
import Scopes
import SyncProtocol
import Transport
import Versions

/// What a session waits for the store to do.
extension SyncConnection {
    /// Takes a session's steps, one after the other, until there is none left.
    func doWork(of key: SessionKey) async {
        while let (step, session) = work.next(of: key) {
            switch step {
            case .open(let path, let needsFileIdent):
                await open(path, needsFileIdent: needsFileIdent, key)
            case .validate(let ident):
                await validate(ident, session, key)
            case .integrate(let uploads):
                await integrate(uploads, session, key)
            case .scanDownload(let cursor):
                await scanDownload(from: cursor, session, key)
            }
            noteFinished(step)
        }
    }

    private func open(_ path: [UInt8], needsFileIdent: Bool, _ key: SessionKey) async {
        guard let partition = Partition(extendedJSON: path), app.accepts(partition) else {
            return fail(key, .illegalPartition)
        }
        do {
            let opened = try await patiently {
                try await service.engine.open(
                    partition,
                    of: app.id,
                    for: user.id,
                    needsFileIdent: needsFileIdent,
                    rules: rules,
                    quotas: app.quotas,
                    schema: service.apps[app.id]?.schema
                )
            }
            if let version = opened.published {
                service.registry.announce(version, of: opened.file)
            }
            work.opened(key, opened.file)
            perform(machine.opened(key, assigned: opened.assigned))
        } catch {
            fail(key, SessionFailure(error))
        }
    }

    private func validate(
        _ ident: ClientMessage.Ident,
        _ session: SessionWork.Session,
        _ key: SessionKey
    ) async {
        guard let file = session.file else { return }
        let client: ClientFile
        let refused: [RefusedWrite]
        do {
            client = try await patiently {
                try await service.engine.identify(
                    ident,
                    in: file,
                    for: user.id,
                    offlineLimitInMilliseconds: app.offlineLimitInMilliseconds
                )
            }
            refused = try await service.engine.refusedWrites(
                of: client.ident,
                after: ident.download.serverVersion,
                in: file
            )
        } catch {
            return fail(key, SessionFailure(error))
        }
        // The session may have ended while the store was asked.
        guard let current = work[key], !current.hasEnded else { return }
        let member = SessionRegistry.Member(file: file, ident: client.ident)
        let previous = service.registry.attach(member, to: self)
        guard previous !== self else {
            return perform(
                machine.fail(.boundInOtherSession, message: "the file has a session already")
            )
        }
        work.identified(key, client)
        perform(machine.identified(key, upload: client.upload, locked: client.lockedServerVersion))
        report(refused, key)
        // The client is at this end now: the other one leads nowhere (wire protocol, 12.5).
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
                // What comes before the offender counts.
                for position in uploads.indices {
                    try await integrate(uploads[position...position], of: client, into: file, key)
                }
            }
        } catch IntegrationRefusal.superseded {
            work.fail(key)
            // If the session is over, its client has come back here, and will send it again.
            guard let current = work[key], !current.hasEnded else { return }
            end(.normal, reason: "another connection serves this file")
        } catch {
            fail(key, SessionFailure(error))
        }
    }

    /// Makes the uploads part of the history, all of them or none.
    private func integrate(
        _ uploads: ArraySlice<UploadCheck.Admitted>,
        of client: ClientFile,
        into file: ServerFileID,
        _ key: SessionKey
    ) async throws {
        guard let last = uploads.last else { return }
        let upload = Upload(
            client: client.ident,
            sessionEpoch: client.sessionEpoch,
            changesets: uploads.flatMap(\.changesets),
            progress: last.progress,
            lockedServerVersion: last.lockedServerVersion
        )
        let outcome = try await patiently {
            try await service.engine.integrate(
                upload,
                into: file,
                policy: SchemaPolicy(allowsAdditions: app.isDevelopmentMode),
                by: user.id,
                rules: rules,
                quotas: app.quotas
            )
        }
        report(outcome.refused, key)
        log(outcome.healing, client.ident)
        // An UPLOAD without changesets makes no version, and gets no answer (wire protocol, 12.3).
        guard outcome.integratedCount > 0 else { return }
        service.registry.announce(outcome.currentVersion, of: file)
    }

    /// The client must hear of what is undone before it gets the version that undoes it; its session
    /// goes on (wire protocol, 13.5).
    private func report(_ refused: [RefusedWrite], _ key: SessionKey) {
        for write in refused {
            perform(
                machine.fail(
                    key,
                    .compensatingWrite(write.updates, undoneAt: write.undoneAt),
                    message: write.updates.updates.first?.reason ?? ""
                )
            )
        }
    }

    /// Once for each upload: the client is put right, but its program may have a bug, or ours.
    private func log(_ healing: Healing, _ client: FileIdent) {
        guard let first = healing.misfits.first else { return }
        service.healedUploads.count(one: app.id)
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
        guard !isOver else { return }
        do {
            let batch = try await patiently {
                try await service.engine.scan(for: client.ident, from: cursor, in: file)
            }
            guard let batch else { throw IntegrationRefusal.unknownClientFile }
            perform(machine.scanned(key, batch.scanned))
        } catch {
            fail(key, SessionFailure(error))
        }
    }
}

// MARK: A store that is in use

extension SyncConnection {
    /// Another program that keeps the store locked is no fault of the client's: what it asked for is
    /// done as soon as the store is free, with a pause before each attempt.
    private func patiently<Result>(
        _ body: () async throws -> Result
    ) async throws -> Result {
        var pause = Duration.milliseconds(50)
        while true {
            do {
                return try await body()
            } catch let error as StoreError where error.kind == .locked && !isOver {
                logger.notice("the store is locked", metadata: ["reason": "\(error)"])
                try await service.timing.clock.sleep(for: pause)
                pause = min(pause * 2, .seconds(2))
            }
        }
    }
}

extension AppConfiguration {
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
