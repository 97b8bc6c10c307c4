import MetricsFormat
import ServerStore

extension ServerTotals {
    /// Adds the families of sync.
    func writeSync(to metrics: inout OpenMetrics) {
        metrics.counter(
            "realm_server_uploaded_changesets",
            "Changesets of clients that were integrated.",
            uploads.samples
        )
        metrics.counter(
            "realm_server_uploaded_bytes",
            "Bytes of these changesets, decompressed.",
            uploadedBytes.samples
        )
        metrics.histogram(
            "realm_server_integration_seconds",
            "Time from an upload's turn to its commit.",
            Self.series(integrations)
        )
        metrics.counter(
            "realm_server_merged_pairs",
            "Pairs of changesets that were merged.",
            mergedPairs.samples
        )
        metrics.counter(
            "realm_server_corrected_uploads",
            "Uploads that did not fit; their clients were corrected.",
            corrections.samples
        )
        metrics.counter(
            "realm_server_rejected_writes",
            "Objects whose writes were rejected for lack of permission and undone.",
            rejectedWrites.samples
        )
        metrics.counter(
            "realm_server_downloaded_changesets",
            "Changesets that were sent, by history and bootstrap.",
            downloads.samples
        )
        metrics.counter(
            "realm_server_downloaded_bytes",
            "Bytes of these changesets, before compression.",
            downloadedBytes.samples
        )
        metrics.histogram(
            "realm_server_scan_seconds",
            "Time to read the history for one DOWNLOAD.",
            Self.series(scans)
        )
        metrics.counter(
            "realm_server_session_errors",
            "Sessions and connections that ended with an error, by its code.",
            sessionErrors.samples
        )
        metrics.counter(
            "realm_server_client_resets",
            "Errors that make a client start over, by code.",
            resets.samples
        )
        metrics.counter(
            "realm_server_rejected_queries",
            "Subscription sets that were rejected.",
            rejectedQueries.samples
        )
    }

    /// Adds the families of the client API.
    func writeClientAPI(to metrics: inout OpenMetrics) {
        metrics.counter(
            "realm_server_requests",
            "Answered requests of the client API.",
            requests.samples
        )
        metrics.counter(
            "realm_server_rejected_requests",
            "Requests of the client API that were rejected, by code.",
            rejections.samples
        )
        metrics.counter(
            "realm_server_log_ins",
            "Log-ins by provider; the outcome is ok or the code of the rejection.",
            logIns.samples
        )
        metrics.counter(
            "realm_server_tokens",
            "Issued tokens.",
            MeasuredEvent.TokenKind.allCases.map {
                .init([("kind", $0.rawValue)], Double(tokens[$0] ?? 0))
            }
        )
        metrics.counter(
            "realm_server_limits_reached",
            "Clients that a limit stopped.",
            MeasuredLimit.allCases.map {
                .init([("limit", $0.rawValue)], Double(limits[$0] ?? 0))
            }
        )
    }

    /// Adds the families of the store and its upkeep.
    func writeStore(to metrics: inout OpenMetrics) {
        metrics.histogram(
            "realm_server_store_call_seconds",
            "Time of the store's calls, waiting for their turn included.",
            MeasuredEvent.StoreCall.allCases.map {
                (labels: [("call", $0.rawValue)], histogram: storeCalls[$0] ?? Histogram())
            }
        )
        metrics.counter(
            "realm_server_store_failures",
            "Failures of the store, by code.",
            storeFailures.samples
        )
        metrics.histogram(
            "realm_server_snapshot_seconds",
            "Time to build a snapshot for new clients.",
            [(labels: [], histogram: snapshots)]
        )
        metrics.histogram(
            "realm_server_job_seconds",
            "Time of the hourly work.",
            Job.allCases.map {
                (labels: [("work", $0.rawValue)], histogram: jobs[$0] ?? Histogram())
            }
        )
    }

    private static func series(
        _ histograms: [AppID: Histogram]
    ) -> [(labels: [(name: String, value: String)], histogram: Histogram)] {
        histograms.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            (labels: [("app", $0.key.rawValue)], histogram: $0.value)
        }
    }
}
