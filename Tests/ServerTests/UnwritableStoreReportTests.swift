import ServerFixtures
import Testing

@testable import Server
@testable import ServerStore

@Suite("A store that cannot write")
struct UnwritableStoreReportTests {
    private static let app = AppID.named("shop-abcde")

    @Test("The log says when it cannot write, and when it can again, once each")
    func reports() async throws {
        let failing = FailingStore(try await .strictInMemory())
        let log = LogRecorder()
        let report = UnwritableStoreReport(logger: log.logger)
        let store = WatchedStore(failing, by: report)
        let write = { @Sendable () async throws -> Void in
            try await store.write(.app(Self.app)) { _ in }
        }
        try await write()
        #expect(log.records.isEmpty)
        failing.fail(3, .diskFull)
        for _ in 0..<2 { await #expect(throws: StoreError.self) { try await write() } }
        #expect(log.records.count == 1)
        #expect(log.records.last?.message == "the store cannot write")
        #expect(log.records.last?.fields["code"] == "store.disk_full")
        // A read says nothing about the disk.
        failing.fail(0)
        _ = try await store.read { _ in 0 }
        #expect(log.records.count == 1)
        try await write()
        try await write()
        #expect(log.records.count == 2)
        #expect(log.records.last?.message == "the store can write again")
        // Another reason is another line, and only that one keeps all clients away.
        var obstacles: [String?] = []
        for kind in [StoreError.Kind.diskFull, .replaced] {
            failing.fail(1, kind)
            await #expect(throws: StoreError.self) { try await write() }
            obstacles.append(report.obstacle)
        }
        #expect(obstacles[0] == nil)
        #expect(obstacles[1] != nil)
        // A file that is back is seen by a read, too.
        _ = try await store.read { _ in 0 }
        #expect(report.obstacle == nil)
        let codes = log.records.dropFirst(2).map { $0.fields["code"] }
        #expect(codes == ["store.disk_full", "store.replaced", nil])
        // Other failures are about a request, not about the disk.
        failing.fail(1, .locked)
        await #expect(throws: StoreError.self) { try await write() }
        #expect(log.records.count == 5)
    }
}
