import MetricsFormat
package import ServerMetrics

/// The metrics and health of this process, for monitoring programs.
package struct Monitoring: Sendable {
    package let metrics: @Sendable () async -> MetricsReport
    /// Reasons why this process cannot serve clients; empty if it can.
    package let obstacles: @Sendable () async -> [String]

    package init(
        metrics: @escaping @Sendable () async -> MetricsReport = {
            MetricsReport(ServerMeter(), ServerGauges())
        },
        obstacles: @escaping @Sendable () async -> [String] = { [] }
    ) {
        self.metrics = metrics
        self.obstacles = obstacles
    }

    var metricsResponse: ClientAPIResponse {
        get async {
            ClientAPIResponse(
                status: 200,
                body: Array(await metrics().openMetrics.utf8),
                contentType: OpenMetrics.contentType
            )
        }
    }

    /// The process responds: 200, with the reasons why it cannot serve.
    var healthResponse: ClientAPIResponse {
        get async { response(status: 200, await obstacles()) }
    }

    /// 200 while this process can serve clients, else 503 with the reasons.
    var readinessResponse: ClientAPIResponse {
        get async {
            let obstacles = await obstacles()
            return response(status: obstacles.isEmpty ? 200 : 503, obstacles)
        }
    }

    private func response(status: Int, _ obstacles: [String]) -> ClientAPIResponse {
        ClientAPIResponse(status: status, body: try? AdminJSON.encode(HealthReport(obstacles)))
    }
}
