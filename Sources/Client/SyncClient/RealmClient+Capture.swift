import Changesets
import ClientReset
import Coordination
import LocalRealm
import Logging
import SyncProtocol
import Versions

/// The outcome of the last attempt to capture local writes.
enum CaptureState {
    case notTried
    case capturing
    /// Another program's long transaction.
    case blocked
    /// An error that the realm cannot stay open with.
    case failed
}

/// Local writes become history.
extension RealmClient {
    /// The first write after a quiet time is captured at once; those that follow closely gather.
    ///
    /// A program that writes all the time then has the file's lock to itself for as long as the drain took it.
    func captureWrites(_ captures: AsyncStream<Void>) async {
        var earliest = time.uptime()
        for await _ in captures {
            let rest = earliest - time.uptime()
            if rest > .zero { try? await time.sleep(rest) }
            let start = time.uptime()
            await inTaskOfItsOwn { await self.captureUntilDone() }
            let end = time.uptime()
            earliest = end + max(captureDelay, min(end - start, Self.longestCaptureDelay))
        }
    }

    private func captureUntilDone() async {
        while await !capture(), !Task.isCancelled { await Task.yield() }
    }

    /// Under constant writing (local realm, 6).
    private static let longestCaptureDelay = Duration.milliseconds(100)

    /// Captures other programs' writes into the history.
    ///
    /// - Returns: false if another program's transaction held the lock for the whole timeout; the
    ///   session continues meanwhile.
    @discardableResult
    func capture() async -> Bool {
        do throws(LocalRealmError) {
            let report = try await store.drain()
            if capturing != .capturing {
                capturing = .capturing
                // The counterpart of the earlier warning.
                logs.storage.info("local writes are captured")
            }
            note(report)
            if report.changesetCount > 0 {
                logs.storage.info(
                    "capture log drained",
                    metadata: [
                        "changesets": "\(report.changesetCount)",
                        "local_version": "\(status.localVersion.rawValue)",
                    ]
                )
                commits.captured(status.localVersion, at: time.uptime())
                reportLocalVersion()
            }
        } catch {
            // It was closed while the call waited.
            guard !isClosed else { return false }
            let before = capturing
            capturing = error.kind == .busy ? .blocked : .failed
            if before != .blocked || capturing == .failed {
                logs.storage.log(
                    level: capturing == .blocked ? .warning : .error,
                    "local writes cannot be captured",
                    metadata: ["code": "\(error.code)", "detail": "\(error.message)"]
                )
            }
            if capturing == .failed { fail(error) }
        }
        return capturing != .blocked
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

    /// Takes the result of a drain.
    func note(_ drain: CaptureReport) {
        if drain.changesetCount > 0 { lastWrite = drain.localVersion }
        for value in drain.rejected { warn(of: value) }
        for notice in drain.notices { warn(of: notice) }
    }

    private func warn(of value: RejectedValue) {
        report(.rejected(value))
        logs.storage.warning(
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
        logs.storage.warning(
            "realm tables were altered outside the agent",
            metadata: ["code": "\(notice.code)", "detail": "\(notice.message)"]
        )
    }
}
