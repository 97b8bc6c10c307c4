import ServerFixtures
import Synchronization
import Testing

@testable import Server
@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore

/// Server on PostgreSQL, 5.
@Suite("Keeping typed views", .timeLimit(.minutes(2)))
struct ViewKeepingTests {
    /// Views that note what is asked of them.
    private final class NotedViews: ObjectViews {
        private struct State {
            var stamps: [AppID: String] = [:]
            var refreshed: [String] = []
            var failure: StoreError?
        }

        private let state = Mutex(State())

        func refresh(_ app: AppID, in schema: String) async throws -> Bool {
            try state.withLock { state in
                state.refreshed.append("\(app) \(schema)")
                if let failure = state.failure { throw failure }
            }
            return true
        }

        func stamps() async throws -> [AppID: String] { state.withLock(\.stamps) }

        func set(_ stamp: String, of app: AppID) {
            state.withLock { $0.stamps[app] = stamp }
        }

        func fail(_ failure: StoreError?) {
            state.withLock { $0.failure = failure }
        }

        func takeRefreshed() -> [String] {
            state.withLock { state in
                defer { state.refreshed = [] }
                return state.refreshed
            }
        }
    }

    private func keeping(_ log: LogRecorder) async throws -> (ViewKeeping, NotedViews) {
        var apps = TestApps.configurations
        apps[0].views = .schema("app_shop")
        apps[1].views = .off
        let accounts = try await TestApps(apps: apps).accounts
        let views = NotedViews()
        let keeping = ViewKeeping(
            views,
            of: accounts.apps,
            backplane: InProcessBackplane(),
            clock: ContinuousClock(),
            logger: log.logger
        )
        return (keeping, views)
    }

    @Test("Views are made when classes may have changed, of apps that have a schema for them")
    func changes() async throws {
        let (keeping, views) = try await keeping(LogRecorder())
        await keeping.refresh()
        #expect(views.takeRefreshed() == [])
        views.set("1 1", of: TestApps.shop)
        // Its configuration wants none.
        views.set("1 1", of: TestApps.office)
        await keeping.refresh()
        await keeping.refresh()
        #expect(views.takeRefreshed() == ["shop-abcde app_shop"])
        views.set("1 2", of: TestApps.shop)
        await keeping.refresh()
        #expect(views.takeRefreshed() == ["shop-abcde app_shop"])
    }

    @Test("What fails is tried again each time, and logged once")
    func failures() async throws {
        let log = LogRecorder()
        let (keeping, views) = try await keeping(log)
        views.set("1 1", of: TestApps.shop)
        views.fail(StoreError(.unusable, "permission denied for database realm"))
        for _ in 0..<3 { await keeping.refresh() }
        #expect(views.takeRefreshed().count == 3)
        #expect(log.records.map(\.message) == ["views could not be made"])
        #expect(log.records.first?.fields["app"] == "shop-abcde")
        views.fail(nil)
        await keeping.refresh()
        await keeping.refresh()
        #expect(views.takeRefreshed().count == 1)
        #expect(log.records.last?.message == "views made")
    }
}
