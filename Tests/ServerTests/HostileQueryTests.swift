import Changesets
import Permissions
import Query
import SyncProtocol
import Testing
import Versions

@testable import ServerAccounts
@testable import ServerConfig
@testable import SyncServer

@Suite("Hostile queries")
struct HostileQueryTests {
    private static let app = ServedAppConfiguration(
        id: TestApps.shop,
        anonymous: true,
        flexible: FlexibleSyncConfiguration(
            queryableFields: QueryableFields(common: ["title", "count"]),
            roles: RoleDeclarations(standard: [
                RoleDeclaration(name: "all", read: .all, write: .all)
            ])
        )
    )

    private static let hostile: [(name: String, query: String)] = [
        ("open parentheses", String(repeating: "(", count: 256 << 10)),
        ("nested parentheses", nested("(", "count == 1", ")", 120_000)),
        ("negations", nested("!(", "count == 1", ")", 80_000)),
        ("ten thousand ORs", repeated("count == 1", " OR ", 10_000)),
        ("ten thousand ANDs", repeated("title != 'x'", " AND ", 10_000)),
        ("LIKE with a list", "title LIKE {'*a*a*a'}"),
        ("a long pattern of LIKE", "title LIKE '\(String(repeating: "*a", count: 100_000))'"),
        ("IN with 80 000 values", "count IN {\(repeated("1", ",", 80_000))}"),
        ("too long", "title == '\(String(repeating: "x", count: 257 << 10))'"),
        ("unknown field", "missing == 1"),
        ("field that is not queryable", "tags.@count > 2"),
        ("wrong type", "count == 'abc'"),
        ("sum of fields", "@sum.count > 1"),
        ("broken text", "count == 'abc"),
        ("zero bytes", "count == \\u0000"),
    ]

    private static func nested(_ open: String, _ inner: String, _ close: String, _ count: Int)
        -> String
    {
        String(repeating: open, count: count) + inner + String(repeating: close, count: count)
    }

    private static func repeated(_ text: String, _ separator: String, _ count: Int) -> String {
        Array(repeating: text, count: count).joined(separator: separator)
    }

    @Test("Each gets QUERY_ERROR; its session continues, and no other notices", arguments: hostile)
    func refused(name: String, query: String) async throws {
        var app = Self.app
        app.isDevelopmentMode = true
        try await SyncWorld.with(.memory, apps: [app]) { world in
            // The schema.
            try await world.connect(mode: .flexible) { client in
                _ = try await client.startFlexible()
                try await client.upload([upload(2, on: 0)])
                _ = try await client.expectDownload()
            }
            let directory = world.apps.accounts.apps
            var served = try #require(directory[TestApps.shop])
            served.configuration = Self.app
            directory.put(served)
            try await world.connect(mode: .flexible) { other in
                _ = try await other.startFlexible()
                try await world.connect(mode: .flexible) { client in
                    _ = try await client.startFlexible()
                    let body = Text(#"{"Task":"\#(query)"}"#)
                    try await client.send(.query(1, .init(version: QueryVersion(1), body: body)))
                    guard case .queryError(1, let error)? = try await client.receive() else {
                        throw TestClient.Unexpected(wanted: "QUERY_ERROR")
                    }
                    #expect(error.version == QueryVersion(1))
                    // The text goes to the client's log: it does not contain the query.
                    #expect(error.message.bytes.count < 1000)
                    let good = Text(#"{"Task":"(count == 1)"}"#)
                    try await client.send(.query(1, .init(version: QueryVersion(2), body: good)))
                    let bootstrap = try await client.expectDownload()
                    #expect(
                        bootstrap.extent == .query(QueryVersion(2), .lastOfBootstrap, .complete)
                    )
                }
                try await other.send(.mark(1, RequestIdent(1)))
                while let message = try await other.receive() {
                    if case .mark(1, RequestIdent(1)) = message { break }
                    guard case .download = message else {
                        throw TestClient.Unexpected(wanted: "DOWNLOAD or MARK", got: message)
                    }
                }
            }
        }
    }
}
