import Changesets
import ServerMetrics
import ServerStore
import SyncProtocol
import Versions

/// The events of a connection that the metrics count.
extension SyncConnection {
    /// Counts a message to the client.
    func note(_ message: ServerMessage) {
        switch message {
        case .download(let download):
            guard !download.changesets.isEmpty else { return }
            service.meter.note(
                .downloaded(
                    user.app,
                    download.extent.kind,
                    changesets: download.changesets.count,
                    bytes: download.changesets.reduce(0) { $0 + $1.bytes.count }
                )
            )
        case .jsonError(let report):
            note(report)
        case .queryError:
            service.meter.note(.rejectedQuery(user.app))
        case .ident, .unbound, .error, .mark, .pong, .logMessage, .testCommand:
            break
        }
    }

    private func note(_ report: JSONErrorReport) {
        if case .compensated(let rejected, _) = report.body.details {
            service.meter.note(.rejectedWrites(user.app, count: rejected.updates.count))
        } else {
            service.meter.note(
                .failed(
                    user.app,
                    code: report.code,
                    resetsClient: report.body.shouldClientReset
                )
            )
        }
    }

    /// Counts an upload that has been in the store's hands since a moment.
    func note(
        _ outcome: UploadIntegration.Outcome,
        ofSize sizeInBytes: Int,
        since start: ContinuousClock.Instant
    ) {
        service.meter.note(
            .integrated(
                user.app,
                changesets: outcome.integratedCount,
                bytes: sizeInBytes,
                mergedPairs: outcome.mergedPairs,
                seconds: start.duration(to: .now) / .seconds(1)
            )
        )
    }

    /// Versions that the slowest of its sessions has not been sent yet.
    var lagInVersions: UInt64 { machine.lagInVersions }
}

extension ServerMessage.Extent {
    fileprivate var kind: MeasuredEvent.DownloadKind {
        switch self {
        case .partition, .query(_, .steady, _): .history
        case .query(_, .moreToCome, _), .query(_, .lastOfBootstrap, _): .bootstrap
        }
    }
}
