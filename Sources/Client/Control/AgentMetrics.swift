import MetricsFormat

/// Input of the metrics: the state of the realms, and totals since the agent started.
package struct AgentMetrics: Sendable {
    private let report: StatusReport
    private let totals: EventTotals
    private let stalled: Set<String>

    /// `stalled`: realms that are connected, and whose local changes make no progress.
    package init(_ report: StatusReport, _ totals: EventTotals, stalled: Set<String> = []) {
        self.report = report
        self.totals = totals
        self.stalled = stalled
    }

    /// The text that `GET /v1/metrics` answers.
    package var openMetrics: String {
        var metrics = OpenMetrics()
        metrics.gauge(
            "realm_agent_build",
            "Always 1; the version is in the label.",
            [.init([("version", report.version)], 1)]
        )
        writeStates(to: &metrics)
        writeStalled(to: &metrics)
        writeTimes(to: &metrics)
        writeAmounts(to: &metrics)
        writeIngest(to: &metrics)
        writeTotals(to: &metrics)
        return metrics.text
    }

    private func writeStates(to metrics: inout OpenMetrics) {
        metrics.gauge(
            "realm_agent_realms",
            "Realms in each state.",
            RealmState.allCases.map { state in
                let count = report.realms.count { $0.state == state }
                return .init([("state", state.rawValue)], Double(count))
            }
        )
        let causes = Dictionary(grouping: report.realms.compactMap(\.cause), by: \.self)
        metrics.gauge(
            "realm_agent_causes",
            "Realms that are not open, by cause: pauses, back-off, refusals.",
            causes.sorted { $0.key < $1.key }.map {
                .init([("cause", $0.key)], Double($0.value.count))
            }
        )
        metrics.gauge(
            "realm_agent_realm_open",
            "1 while the realm's session is bound to the server.",
            each { $0.state == .open || $0.state == .progress ? 1 : 0 }
        )
    }

    private func writeStalled(to metrics: inout OpenMetrics) {
        metrics.gauge(
            "realm_agent_realm_stalled",
            "1 while a connected realm has local changes, of which none is acknowledged.",
            each { stalled.contains($0.name) ? 1 : 0 }
        )
    }

    private func writeTimes(to metrics: inout OpenMetrics) {
        metrics.gauge(
            "realm_agent_backoff_seconds",
            "Time until the next attempt to open or to connect, of realms that wait for one.",
            some(\.secondsToNextAttempt)
        )
        metrics.gauge(
            "realm_agent_round_trip_seconds",
            "Smoothed round trip of the realm's connection when it was last measured.",
            some(\.roundTripSeconds)
        )
        metrics.gauge(
            "realm_agent_offline_limit_used_ratio",
            "Part of the offline limit that has passed since the realm's last contact with the server.",
            some(\.offlineLimitUsed)
        )
        metrics.histogram(
            "realm_agent_acknowledgement_seconds",
            "How long local writes took from their capture to the server's acknowledgement.",
            totals.acknowledgements.sorted { $0.key < $1.key }
                .map { (labels: [("realm", $0.key)], histogram: $0.value) }
        )
    }

    private func writeAmounts(to metrics: inout OpenMetrics) {
        metrics.gauge(
            "realm_agent_pending_upload_bytes",
            "Bytes of local writes that the server has not acknowledged.",
            each { Double($0.pendingUploadBytes) }
        )
        metrics.gauge(
            "realm_agent_pending_download_bytes",
            "Bytes that the server announced and this machine has not integrated.",
            each { Double($0.pendingDownloadBytes) }
        )
        metrics.gauge(
            "realm_agent_pending_versions",
            "Local versions that the server has not acknowledged.",
            each { Double($0.localVersion) - Double(min($0.acknowledgedVersion, $0.localVersion)) }
        )
        metrics.counter(
            "realm_agent_uploaded_bytes",
            "Bytes of changesets acknowledged by the server, over the life of the file.",
            each { Double($0.uploadedBytes) }
        )
        metrics.counter(
            "realm_agent_downloaded_bytes",
            "Bytes of changesets integrated, over the life of the file.",
            each { Double($0.downloadedBytes) }
        )
    }

    private func writeIngest(to metrics: inout OpenMetrics) {
        metrics.gauge(
            "realm_agent_ingest_pending_objects",
            "Objects of asymmetric classes that the server has not taken yet.",
            some { $0.ingest.map { Double($0.pending) } }
        )
        metrics.gauge(
            "realm_agent_ingest_lag_seconds",
            "Age of the oldest of these objects; 0 if there are none.",
            some { $0.ingest.map { $0.lagSeconds ?? 0 } }
        )
        metrics.counter(
            "realm_agent_ingested_objects",
            "Objects of asymmetric classes that the server has taken since the file was opened.",
            some { $0.ingest.map { Double($0.uploaded) } }
        )
    }

    private func writeTotals(to metrics: inout OpenMetrics) {
        metrics.counter(
            "realm_agent_uploaded_changesets",
            "Changesets of local writes acknowledged by the server.",
            totals.uploads.sorted { $0.key < $1.key }
                .map { .init([("realm", $0.key)], Double($0.value)) }
        )
        metrics.counter(
            "realm_agent_integrated_changesets",
            "Changesets of other devices integrated.",
            totals.changesets.sorted { $0.key < $1.key }
                .map { .init([("realm", $0.key)], Double($0.value)) }
        )
        metrics.histogram(
            "realm_agent_integration_seconds",
            "How long the transactions took that integrated them.",
            totals.integrations.sorted { $0.key < $1.key }
                .map { (labels: [("realm", $0.key)], histogram: $0.value) }
        )
        metrics.counter(
            "realm_agent_errors",
            "Errors, by code.",
            samples(totals.errors, "code")
        )
        metrics.counter(
            "realm_agent_rejected_writes",
            "Writes that were not taken, by who refused them.",
            samples(totals.rejects, "by")
        )
        metrics.counter(
            "realm_agent_pauses",
            "Pauses and suspensions, by cause.",
            samples(totals.pauses, "cause")
        )
        metrics.counter(
            "realm_agent_resets",
            "Client resets, by how far they came.",
            samples(totals.resets, "stage")
        )
        metrics.counter(
            "realm_agent_plugin_failures",
            "Handlers that failed, hung or answered nonsense.",
            samples(totals.pluginFailures, "plugin")
        )
    }

    private func each(_ value: (RealmStatus) -> Double) -> [OpenMetrics.Sample] {
        report.realms.map { .init([("realm", $0.name)], value($0)) }
    }

    private func some(_ value: (RealmStatus) -> Double?) -> [OpenMetrics.Sample] {
        report.realms.compactMap { realm in
            value(realm).map { .init([("realm", realm.name)], $0) }
        }
    }

    private func samples(
        _ counts: [EventTotals.Pair: UInt64],
        _ label: String
    ) -> [OpenMetrics.Sample] {
        counts.sorted { ($0.key.realm, $0.key.word) < ($1.key.realm, $1.key.word) }
            .map { .init([("realm", $0.key.realm), (label, $0.key.word)], Double($0.value)) }
    }
}
