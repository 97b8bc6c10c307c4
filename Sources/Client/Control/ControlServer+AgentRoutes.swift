import Hummingbird
import MetricsFormat

/// Requests about the agent as a whole.
extension ControlServer {
    func addAgentRoutes(to router: Router<ControlContext>) {
        let backend = backend
        router.get("v1/status") { _, _ in
            try Response.json(await backend.status())
        }
        router.get("v1/events") { request, _ in
            let position = try request.query("after", as: UInt64.self)
            let follow = try request.query("follow", as: Bool.self) ?? false
            let realm = try request.query("realm")
            if let realm { try await backend.requireRealm(realm) }
            let records = backend.events(after: position, follow: follow)
            // A gap concerns every realm.
            return Response.jsonLines(records, to: request) { record in
                realm == nil || record.event.realm == realm || record.event.payload == .gap
            }
        }
        router.get("v1/plugins") { _, _ in
            try Response.json(await backend.plugins())
        }
        router.post("v1/reload") { _, _ in
            try Response.json(try await backend.reload())
        }
        router.get("v1/log") { _, _ in
            try Response.json(await backend.logLevels())
        }
        router.put("v1/log") { request, _ in
            let change = try await request.decoded(as: LogLevelChange.self)
            return try Response.json(try await backend.setLogLevel(change))
        }
        router.get("v1/metrics") { _, _ in
            Response.text(await backend.metrics().openMetrics, type: OpenMetrics.contentType)
        }
        router.get("v1/health") { _, _ in
            try Response.json(["status": "ok"])
        }
    }
}
