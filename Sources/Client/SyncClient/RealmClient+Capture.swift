import Changesets
import ClientReset
import LocalRealm
import Logging
import SQLite
import SyncProtocol
import Versions

/// Local writes become history.
extension RealmClient {
    /// The first write after a quiet time is captured at once; those that follow closely gather.
    func captureWrites(_ captures: AsyncStream<Void>) async {
        for await _ in captures {
            while await !capture(), !Task.isCancelled { await Task.yield() }
            try? await time.sleep(captureDelay)
        }
    }

    /// Captures other programs' writes into the history.
    ///
    /// - Returns: false if another program's transaction held the lock for the whole timeout; the
    ///   session continues meanwhile.
    @discardableResult
    func capture() async -> Bool {
        do throws(LocalRealmError) {
            let report = try await store.drain()
            isBlocked = false
            if !isCapturing {
                isCapturing = true
                // The counterpart of the earlier warning.
                logger.info("local writes are captured")
            }
            warn(of: report)
            if report.changesetCount > 0 {
                commits.captured(status.localVersion, at: time.uptime())
                reportLocalVersion()
            }
        } catch {
            // It was closed while the call waited.
            guard !isClosed else { return false }
            let isNew = !isBlocked
            isBlocked = error.kind == .busy
            isCapturing = false
            if isNew || !isBlocked {
                logger.log(
                    level: isBlocked ? .warning : .error,
                    "local writes cannot be captured",
                    metadata: ["code": "\(error.code)", "detail": "\(error.message)"]
                )
            }
            if !isBlocked { fail(error) }
        }
        return !isBlocked
    }

    /// Reports the newest local version to the session.
    func reportLocalVersion() {
        session?.localVersionAvailable(status.localVersion)
        reportTransfer()
        wakeConnection()
    }

    /// Publishes the newest acknowledged version and the upload delays.
    func reportAcknowledged(_ changesets: Int, upTo version: ClientVersion) {
        let durations = commits.acknowledged(version, at: time.uptime())
        report(.acknowledged(changesets: changesets, after: durations))
    }

    func warn(of drain: CaptureReport) {
        for value in drain.rejected { warn(of: value) }
        for notice in drain.notices { warn(of: notice) }
    }

    private func warn(of value: RejectedValue) {
        report(.rejected(value))
        logger.warning(
            "a local value cannot be synchronised and was restored",
            metadata: [
                "code": "capture.rejected", "class": "\(value.className)", "key": "\(value.key)",
                "property": "\(value.property?.description ?? "")", "reason": "\(value.reason)",
            ]
        )
    }

    private func warn(of notice: SchemaNotice) {
        if notice.mayHaveLostWrites {
            wantReset(
                ResetCause(
                    action: .clientReset,
                    code: 0,
                    message: "writes may not have been captured: \(notice.message)",
                    origin: .alteredTables
                )
            )
        }
        logger.warning(
            "realm tables were altered outside the agent",
            metadata: ["code": "\(notice.code)", "detail": "\(notice.message)"]
        )
    }

    /// Limits the growth of the write-ahead log, on a separate thread.
    nonisolated func checkpoint() async {
        let executor = surroundings.executor("checkpoints of \(name)")
        let (path, vfs, logger) = (path, surroundings.vfs, await logger)
        while (try? await time.sleep(.seconds(5))) != nil {
            await executor.perform {
                do throws(LocalRealmError) {
                    try Checkpointer(path: path, vfs: vfs).run()
                } catch {
                    logger.debug("checkpoint failed", metadata: ["detail": "\(error.message)"])
                }
            }
        }
    }
}
