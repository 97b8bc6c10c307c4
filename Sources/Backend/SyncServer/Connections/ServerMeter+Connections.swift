import Changesets
import ServerMetrics
import ServerStore
import SyncProtocol
import Versions

/// The events of connections that the metrics count.
extension ServerMeter {
    /// Counts a message to a client.
    func note(_ message: ServerMessage, of app: AppID) {
        switch message {
        case .download(let download):
            guard !download.changesets.isEmpty else { return }
            note(
                .downloaded(
                    app,
                    download.extent.kind,
                    changesets: download.changesets.count,
                    bytes: download.changesets.reduce(0) { $0 + $1.bytes.count }
                )
            )
        case .jsonError(let report):
            note(report, of: app)
        case .queryError:
            note(.rejectedQuery(app))
        case .ident, .unbound, .error, .mark, .pong, .logMessage, .testCommand:
            break
        }
    }

    private func note(_ report: JSONErrorReport, of app: AppID) {
        if case .compensated(let rejected, _) = report.body.details {
            note(.rejectedWrites(app, count: rejected.updates.count))
        } else {
            note(
                .failed(
                    app,
                    code: report.code,
                    resetsClient: report.body.shouldClientReset
                )
            )
        }
    }

    /// Counts an upload that has been in the store's hands since a moment.
    func note(
        _ outcome: UploadIntegration.Outcome,
        of app: AppID,
        sizeInBytes: Int,
        since start: ContinuousClock.Instant
    ) {
        note(
            .integrated(
                app,
                changesets: outcome.integratedCount,
                bytes: sizeInBytes,
                mergedPairs: outcome.mergedPairs,
                seconds: start.duration(to: .now) / .seconds(1)
            )
        )
    }
}

extension ServerMessage.Extent {
    fileprivate var kind: MeasuredEvent.DownloadKind {
        switch self {
        case .partition, .query(_, .steady, _): .history
        case .query(_, .moreToCome, _), .query(_, .lastOfBootstrap, _): .bootstrap
        }
    }
}
