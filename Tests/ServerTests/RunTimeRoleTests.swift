import Changesets
import Permissions
import ServerFixtures
import SyncProtocol
import Testing
import Versions

@testable import Server
@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore
@testable import SyncServer

/// Moving an app, 4: never wider than written, also where a class appears while the server runs.
@Suite("Roles and classes that clients add", .timeLimit(.minutes(5)))
struct RunTimeRoleTests {
    @Test(
        "A role that cannot be evaluated for a new class allows nothing there, and is logged once"
    )
    func newClass() async throws {
        let log = LogRecorder()
        var app = FlexibleShop.app([
            RoleDeclaration(
                name: "owner",
                read: .matching("owner == $user.id"),
                write: .matching("owner == $user.id")
            )
        ])
        app.flexible?.roles.classes["Note"] = FlexibleShop.allUsers
        try await SyncWorld.with(.memory, apps: [app], log: log) { world in
            try await world.connect(mode: .flexible) { client in
                _ = try await client.startFlexible()
                // The class of the role's property comes second.
                try await client.upload([
                    upload(2, on: 0), upload(3, on: 0, Tasks.addClass("Note")),
                ])
                let progress = try await client.receive(acknowledging: 3)
                let received = try await client.subscribe(
                    .init(
                        version: QueryVersion(1),
                        body: #"{"Note":"(TRUEPREDICATE)","Task":"(TRUEPREDICATE)"}"#
                    ),
                    request: 1
                )
                #expect(received.progress.download.serverVersion > progress.download.serverVersion)
                let base = received.progress.download.serverVersion.rawValue
                // Two uploads: the role is asked each time.
                for version in UInt64(4)...5 {
                    try await client.upload([
                        upload(version, on: base, Tasks.create(Int64(version), title: "x"))
                    ])
                    let report = try await client.expectError(session: 1)
                    #expect(report.code == 231)
                    try await client.receive(acknowledging: version)
                }
            }
            // Another app's changes do not compile this one's roles again.
            _ = world.sync.apps.syncApp(TestApps.shop)
        }
        let reports = log.records.filter {
            $0.message == "a role cannot be evaluated and allows nothing"
        }
        #expect(reports.map { $0.fields["class"] } == ["Task", "Task"])
        #expect(Set(reports.map { $0.fields["key"] }) == ["read", "write"])
        #expect(
            reports.allSatisfy { $0.fields["role"] == "owner" && $0.fields["app"] == "shop-abcde" }
        )
        #expect(reports.allSatisfy { $0.fields["reason"]?.contains("no property owner") == true })
    }

    @Test("The roles of an app are compiled once for each change of the app and its schema")
    func compiledOnce() async throws {
        let apps = try await TestApps(apps: [FlexibleShop.app()])
        let served = ServedSyncApps(
            apps.accounts.apps,
            logger: LogRecorder().logger
        )
        func settings() -> FlexibleSettings? { served.syncApp(TestApps.shop)?.flexible }
        let first = try #require(settings())
        #expect(settings()?.sharesRoles(with: first) == true)
        apps.accounts.apps.put(try #require(apps.accounts.apps[TestApps.shop]))
        #expect(settings()?.sharesRoles(with: first) == false)
        #expect(served.syncApps.map(\.id) == [TestApps.shop])
        apps.accounts.apps.remove(TestApps.shop)
        #expect(served.syncApp(TestApps.shop) == nil)
    }
}
