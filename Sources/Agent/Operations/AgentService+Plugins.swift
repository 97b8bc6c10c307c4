import Config
package import Control
import Platform
import Plugins
import RealmSync
import Scheduling

/// The plugin report of the control API.
extension AgentService {
    package func plugins() async -> [PluginReport] {
        let configuration = await running.configuration
        return await pluginRegistry.report().map { record in
            PluginReport(
                name: record.name,
                use: record.use,
                realms: configuration.realms.filter { $0.names(record.name) }.map(\.name),
                calls: record.calls,
                failures: record.failures,
                lastFailure: record.lastFailure.map {
                    PluginReport.Failure(
                        at: $0.at.description,
                        realm: $0.realm,
                        code: $0.code,
                        message: $0.message
                    )
                }
            )
        }
    }
}

extension RealmConfiguration {
    fileprivate func names(_ plugin: String) -> Bool {
        let handlers =
            errorHandlers + clientReset.before + clientReset.after + clientReset.manual
        return handlers.contains { $0.name == plugin }
    }
}

extension HandlerRunner {
    /// The handlers that a realm names.
    init(_ realm: RealmConfiguration, at location: RealmLocation, registry: PluginRegistry) {
        self.init(
            subject: HandlerSubject(
                realm: realm.name,
                app: realm.user.app.appID,
                user: realm.user.name,
                path: realm.path
            ),
            location: location,
            registry: registry,
            onError: realm.errorHandlers.map(\.name),
            beforeReset: realm.clientReset.before.map(\.name),
            afterReset: realm.clientReset.after.map(\.name),
            manualReset: realm.clientReset.manual.map(\.name)
        )
    }
}

extension PluginRegistry {
    /// The handlers of a configuration, whose failures are events.
    init(_ plugins: [PluginConfiguration], log: AgentLog, events: AgentEvents) {
        self.init(
            plugins,
            environment: HandlerEnvironment(
                logger: log.logger("Agent.Plugins"),
                now: WallTime.now,
                readSecret: { try SecretSource.ofProcess.read($0) },
                files: HandlerRealmFiles(),
                units: SystemdUnits()
            ),
            onFailure: { failure in
                events.publish(
                    AgentEvent(
                        realm: failure.realm,
                        .plugin(
                            PluginPayload(
                                plugin: failure.plugin,
                                handled: failure.kind,
                                failure: "\(failure.message) [\(failure.code)]"
                            )
                        )
                    )
                )
            }
        )
    }
}
