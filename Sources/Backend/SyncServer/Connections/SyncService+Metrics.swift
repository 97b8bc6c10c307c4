package import ServerMetrics
import ServerStore
import SyncProtocol

extension SyncService {
    /// Adds the connections and sessions of this process.
    package func measure(into gauges: inout ServerGauges) async {
        gauges.waitingUploadBytes = uploads.sizeInBytes
        gauges.sessions = registry.sessionKinds
        for app in apps.syncApps { gauges.connections[app.id] = 0 }
        for connection in registry.connections {
            let app = connection.user.app
            gauges.connections[app, default: 0] += 1
            gauges.lagInVersions[app] = max(
                gauges.lagInVersions[app] ?? 0,
                await connection.lagInVersions
            )
            gauges.lagInMilliseconds[app] = max(
                gauges.lagInMilliseconds[app] ?? 0,
                await connection.lagInMilliseconds
            )
        }
    }
}

extension SessionRegistry {
    fileprivate var sessionKinds: [ServerGauges.SessionKind: Int] {
        connectionsOfSessions.reduce(into: [:]) { counts, connection in
            let kind = ServerGauges.SessionKind(
                app: connection.user.app,
                version: connection.subProtocol.version,
                mode: connection.subProtocol.mode == .flexible ? "flexible" : "partition"
            )
            counts[kind, default: 0] += 1
        }
    }
}
