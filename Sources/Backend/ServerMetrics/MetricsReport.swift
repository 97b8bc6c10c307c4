import MetricsFormat
import ServerStore

/// The server's metrics at one moment, as `docs/metrics.md` lists them.
package struct MetricsReport: Sendable {
    private let totals: ServerTotals
    private let gauges: ServerGauges

    package init(_ meter: ServerMeter, _ gauges: ServerGauges) {
        self.totals = meter.current
        self.gauges = gauges
    }

    /// In the text form of OpenMetrics 1.0.
    package var openMetrics: String {
        var metrics = OpenMetrics()
        metrics.gauge(
            "realm_server_build",
            "Always 1; the version is in the label.",
            [.init([("version", gauges.version)], 1)]
        )
        writeConnections(to: &metrics)
        totals.writeSync(to: &metrics)
        totals.writeClientAPI(to: &metrics)
        totals.writeStore(to: &metrics)
        writeStored(to: &metrics)
        writeState(to: &metrics)
        gauges.process?.write(to: &metrics)
        return metrics.text
    }

    private func writeConnections(to metrics: inout OpenMetrics) {
        metrics.gauge(
            "realm_server_connections",
            "Open sync connections of this process.",
            Self.byApp(gauges.connections) { Double($0) }
        )
        let sessions = gauges.sessions.sorted {
            ($0.key.app.rawValue, $0.key.version, $0.key.mode)
                < ($1.key.app.rawValue, $1.key.version, $1.key.mode)
        }
        metrics.gauge(
            "realm_server_sessions",
            "Sessions that are bound to a realm, by protocol version and mode of sync.",
            sessions.map { kind, count in
                .init(
                    [
                        ("app", kind.app.rawValue), ("protocol", "\(kind.version)"),
                        ("mode", kind.mode),
                    ],
                    Double(count)
                )
            }
        )
        metrics.gauge(
            "realm_server_slowest_client_lag_versions",
            "Versions that the slowest connected client has not been sent yet.",
            Self.byApp(gauges.lagInVersions) { Double($0) }
        )
        metrics.gauge(
            "realm_server_slowest_client_lag_seconds",
            "How long the server has had a version that a connected client has not been sent yet.",
            Self.byApp(gauges.lagInMilliseconds) { Double($0) / 1_000 }
        )
        metrics.gauge(
            "realm_server_waiting_upload_bytes",
            "Bytes of uploads that wait for the store.",
            [.init([], Double(gauges.waitingUploadBytes))]
        )
        metrics.gauge(
            "realm_server_store_calls_under_way",
            "Calls that the store is at, or that wait for their turn.",
            [.init([], Double(gauges.storeCallsUnderWay))]
        )
    }

    private func writeStored(to metrics: inout OpenMetrics) {
        metrics.gauge(
            "realm_server_realms",
            "Realms in the store.",
            Self.byApp(gauges.storedApps) { Double($0.realms) }
        )
        metrics.gauge(
            "realm_server_history_bytes",
            "Bytes of history in the store.",
            Self.byApp(gauges.storedApps) { Double($0.historyBytes) }
        )
        guard let disk = gauges.disk else { return }
        metrics.gauge(
            "realm_server_store_bytes",
            "Size of the store's files.",
            [
                .init([("file", "database")], Double(disk.databaseBytes)),
                .init([("file", "wal")], Double(disk.logBytes)),
            ]
        )
        metrics.gauge(
            "realm_server_disk_free_bytes",
            "Free bytes of the store's file system.",
            [.init([], Double(disk.freeBytes))]
        )
        metrics.gauge(
            "realm_server_disk_bytes",
            "Size of the store's file system.",
            [.init([], Double(disk.sizeInBytes))]
        )
    }

    private func writeState(to metrics: inout OpenMetrics) {
        metrics.gauge(
            "realm_server_ready",
            "1 while this process can serve clients.",
            [.init([], gauges.obstacles.isEmpty ? 1 : 0)]
        )
        metrics.gauge(
            "realm_server_clock_seconds",
            "The clock of this machine, in seconds since 1970.",
            [.init([], gauges.time)]
        )
        guard let expiry = gauges.certificateExpiry else { return }
        metrics.gauge(
            "realm_server_certificate_expiry_seconds",
            "When the certificate ends, in seconds since 1970.",
            [.init([], Double(expiry))]
        )
    }

    private static func byApp<Value>(
        _ values: [AppID: Value],
        _ number: (Value) -> Double
    ) -> [OpenMetrics.Sample] {
        values.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            .init([("app", $0.key.rawValue)], number($0.value))
        }
    }
}

extension ProcessUsage {
    fileprivate func write(to metrics: inout OpenMetrics) {
        metrics.counter(
            "process_cpu_seconds",
            "User and system time.",
            [.init([], cpuSeconds)]
        )
        metrics.gauge(
            "process_resident_memory_bytes",
            "Memory in use.",
            [.init([], Double(residentBytes))]
        )
        metrics.gauge(
            "process_open_fds",
            "Open file descriptors.",
            [.init([], Double(openDescriptors))]
        )
        metrics.gauge(
            "process_max_fds",
            "Limit of file descriptors.",
            [.init([], Double(descriptorLimit))]
        )
        metrics.gauge("process_threads", "Threads.", [.init([], Double(threads))])
        metrics.gauge(
            "process_start_time_seconds",
            "When the process began, in seconds since 1970.",
            [.init([], startTime)]
        )
    }
}
