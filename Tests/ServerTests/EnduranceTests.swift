import Logging
import ServerFixtures
import SyncProtocol
import Testing
import Transport
import Versions

@testable import SQLiteServerStore
@testable import ServerStore
@testable import SyncServer

@Suite("Endurance of the server", .timeLimit(.minutes(10)))
struct EnduranceTests {
    @Test("A temporarily locked store ends no session: requests are served after it")
    func lockedStore() async throws {
        let store = FailingStore(try await .strictInMemory())
        let apps = try await TestApps(store: store)
        let service = SyncService.testing(apps)
        let subProtocol = SubProtocol(mode: .partitionBased, version: 14)
        let user = ConnectedUser(id: UserID("ann"), app: TestApps.shop, mustLeaveAt: .max)
        let (stream, server) = InMemoryStream.makePair(subProtocol: subProtocol.token)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await service.serve(server, of: user, subProtocol) }
            let client = TestClient(stream)
            store.fail(2)
            try await client.bind()
            let file = try await client.expectIdent()
            store.fail(2)
            try await client.ident(1, file)
            _ = try await client.expectDownload()
            store.fail(2)
            try await client.upload([upload(2, on: 0)])
            #expect(try await client.expectDownload().progress.upload == uploadCursor(2, 0))
            await stream.close(.normal, reason: "")
            try await group.waitForAll()
        }
    }

    @Test("10 000 BINDs are answered one by one, far more end the connection, others continue")
    func manyBinds() async throws {
        try await SyncWorld.with(.memory) { world in
            try await world.connect { other in
                try await other.start()
                try await world.connect { client in
                    let limit = Limits.server.sessionsPerConnection
                    var refused = 0
                    for number in 1...UInt64(10_000) {
                        let session = try #require(SessionIdent(number))
                        // No partition at all: the store is not asked.
                        try await client.bind(session, "")
                        let report = try await client.expectError(session: session)
                        #expect(report.code == (number <= UInt64(limit) ? 204 : 201))
                        refused += 1
                    }
                    #expect(refused == 10_000)
                    var last: JSONErrorReport?
                    for number in UInt64(10_001)...UInt64(limit * 16 + 1) {
                        try await client.bind(try #require(SessionIdent(number)), "")
                        guard case .jsonError(let report)? = try await client.receive() else {
                            break
                        }
                        last = report
                    }
                    #expect(last?.session == nil)
                    #expect(last?.code == 101)
                }
                try await other.upload([upload(2, on: 0)])
                #expect(try await other.expectDownload().progress.upload == uploadCursor(2, 0))
            }
        }
    }

    @Test("C10 A copy of a synced file gets a new ident, and continues at the original's progress")
    func copiedFile() async throws {
        try await SyncWorld.with(.memory) { world in
            let user = try await world.logIn()
            try await world.connect(as: user) { client in
                try await client.start()
                try await client.upload([
                    upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "x")),
                ])
                let latest = try await client.expectDownload().progress.latestServerVersion
                try await client.bind(2)
                let copy = try await client.expectIdent(2)
                try await client.ident(2, copy, at: downloadCursor(2, 0), latest: latest)
                let first = try await client.expectDownload(2)
                #expect(first.changesets.isEmpty)
                #expect(first.progress.upload == .zero)
                try await client.upload(
                    [upload(9, on: 2, Tasks.setTitle(1, "by the copy"))],
                    locked: 2,
                    in: 2
                )
                // The original hears of it, the copy of its success.
                var answers: [SessionIdent: ServerMessage.Download] = [:]
                for _ in 0..<2 {
                    guard case .download(let download)? = try await client.receive() else {
                        throw TestClient.Unexpected(wanted: "DOWNLOAD")
                    }
                    answers[download.session] = download
                }
                #expect(answers[1]?.changesets.count == 1)
                #expect(answers[2]?.progress.upload == uploadCursor(9, 2))
            }
        }
    }
}
