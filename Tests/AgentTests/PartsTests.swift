import Config
import Platform
import Plugins
import Settings
import TestSupport
import Testing

@testable import Agent

@Suite("What is put together of a configuration")
struct PartsTests {
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    private func parts(sharesConnections: Bool) throws -> Parts {
        let text = """
            agent: { data_directory: \(temporary.path) }
            apps:
              shop:
                app_id: shop
                base_url: "http://127.0.0.1:1"
                share_connections: \(sharesConnections)
            users:
              till: { app: shop, provider: anonymous }
              desk: { app: shop, provider: anonymous }
            realms:
              stock: { user: till, partition: { string: a } }
              orders: { user: till, partition: { string: b } }
              visits: { user: desk, partition: { string: a } }
            """
        let loaded = ConfigurationLoader.load(
            main: ConfigurationSource(file: "test.yaml", bytes: Array(text.utf8)),
            dropIns: [],
            surroundings: Surroundings(
                hostName: "box",
                machineID: "machine",
                environment: [:],
                readFile: { _ in .success([]) }
            )
        )
        let configuration = try #require(loaded.configuration)
        let log = AgentLog(configuration.daemon.log, atLeast: .off)
        let events = AgentEvents()
        var parts = Parts(
            version: "1",
            log: log,
            database: try MetadataDatabase(path: temporary.file("metadata.sqlite")),
            events: events,
            recoveredDirectory: temporary.file("recovered"),
            plugins: PluginRegistry([], log: log, events: events)
        )
        for app in configuration.apps { try parts.add(app) }
        for user in configuration.users { parts.add(user) }
        for realm in configuration.realms { parts.add(realm) }
        return parts
    }

    @Test("Realms of one user share a connection, those of two never; unless each has its own")
    func connections() async throws {
        for sharesConnections in [true, false] {
            let parts = try parts(sharesConnections: sharesConnections)
            var connections: [String: ObjectIdentifier] = [:]
            for realm in parts.supervisors {
                connections[realm.configuration.name] = ObjectIdentifier(await realm.connection)
            }
            #expect((connections["stock"] == connections["orders"]) == sharesConnections)
            #expect(connections["stock"] != connections["visits"])
            #expect(parts.connections.count == (sharesConnections ? 2 : 3))
        }
    }
}
