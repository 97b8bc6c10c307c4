import Config
import RealmSync
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
        return try ConfigurationFixture(text, in: temporary).parts(in: temporary)
    }

    @Test("Realms of one user share a connection, those of two never; unless each has its own")
    func connections() async throws {
        for sharesConnections in [true, false] {
            let parts = try parts(sharesConnections: sharesConnections)
            var connections: [String: ObjectIdentifier] = [:]
            for realm in parts.realms {
                connections[realm.name] = ObjectIdentifier(realm.realm.context.connection)
            }
            #expect((connections["stock"] == connections["orders"]) == sharesConnections)
            #expect(connections["stock"] != connections["visits"])
            #expect(parts.connections.count == (sharesConnections ? 4 : 6))
        }
    }
}
