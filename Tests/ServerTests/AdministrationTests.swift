import FoundationEssentials
import Glibc
import Logging
import ServerFixtures
import SyncProtocol
import Testing
import Transport
import Versions

@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerHTTP
@testable import ServerStore
@testable import SyncServer

/// Checklist lines D of app services, 16, as far as they are about partition-based sync.
@Suite("Administration", .timeLimit(.minutes(10)))
struct AdministrationTests {
    @Test("D1 Clients of a paused app are disconnected, and later continue where they stopped")
    func pause() async throws {
        try await SyncWorld.with(.memory) { world in
            let user = try await world.logIn()
            let (file, latest) = try await world.connect(as: user) { client in
                let (file, _) = try await client.start()
                try await client.upload([upload(2, on: 0)])
                let latest = try await client.expectDownload().progress.latestServerVersion
                let reply = await world.admin.call(
                    "PUT",
                    "apps/shop-abcde/sync",
                    "{\"state\":\"paused\"}"
                )
                #expect(reply.status == 200)
                let report = try await client.expectError(session: 1)
                #expect(report.code == 200)
                #expect(report.body.action == .transient)
                #expect(report.body.tryAgain)
                #expect(try await client.receive() == nil)
                return (file, latest)
            }
            // Nothing that a client takes for final (wire protocol, 2.5).
            await #expect(throws: AccountRefusal.syncPaused) {
                try await world.apps.accounts.authorizeSync(user.token, app: TestApps.shop)
            }
            #expect(ServiceRefusal(AccountRefusal.syncPaused).status == 503)
            await world.admin.call("PUT", "apps/shop-abcde/sync", "{\"state\":\"enabled\"}")
            try await world.connect(as: user) { client in
                try await client.bind(needsFileIdent: false)
                try await client.ident(1, file, at: downloadCursor(1, 2), latest: latest)
                #expect(try await client.expectDownload().progress.upload == uploadCursor(2, 0))
            }
        }
    }

    @Test("D9 One client starts over on command; the other continues")
    func resetClient() async throws {
        try await SyncWorld.with(.memory) { world in
            let user = try await world.logIn()
            let path = "apps/shop-abcde/realms/reset-client"
            try await world.connect { other in
                try await other.start()
                try await world.connect(as: user) { client in
                    let (file, _) = try await client.start()
                    try await client.upload([upload(2, on: 0)])
                    let progress = try await client.expectDownload().progress
                    _ = try await other.expectDownload()
                    let ident = file.ident.rawValue
                    let body = "{\"partition\":\"\\\"store-42\\\"\",\"client\":\(ident)}"
                    #expect(await world.admin.call("POST", path, body).status == 400)
                    let confirmed = "\(path)?confirm=shop-abcde"
                    let reply = await world.admin.call("POST", confirmed, body)
                    #expect(reply.status == 204, "\(reply.text)")
                    // Its session is closed, and when it comes back it is told.
                    #expect(try await client.expectError(session: 1).code == 200)
                    try await client.send(.unbind(1))
                    try await client.bind(needsFileIdent: false)
                    try await client.ident(
                        1,
                        file,
                        at: progress.download,
                        latest: progress.latestServerVersion
                    )
                    let report = try await client.expectError(session: 1)
                    #expect(report.code == 208)
                    #expect(report.body.action == .clientReset)
                    try await client.send(.unbind(1))
                    let (fresh, download) = try await client.start(2)
                    #expect(fresh.ident.rawValue > file.ident.rawValue)
                    #expect(download.changesets.count == 1)
                    // What it had uploaded stays, and it is unknown from now on.
                    #expect(await world.admin.call("POST", confirmed, body).status == 404)
                }
                try await other.upload([upload(2, on: 1, Tasks.create(1, title: "a"))])
                #expect(try await other.expectDownload().progress.upload == uploadCursor(2, 1))
            }
        }
    }

    @Test("A key of the operator can be disabled and enabled")
    func keySwitch() async throws {
        var app = TestApps.configurations[0]
        app.apiKey = true
        let apps = try await TestApps(apps: [app])
        let admin = TestAdmin(apps, .testing(apps))
        let keys = "apps/shop-abcde/server_keys"
        let key = try await admin.call("POST", keys, "{\"name\":\"importer\"}")
            .decode(KeyReport.self)
        func logIn() async -> TestApps.Reply {
            await apps.call(
                "POST",
                "/app/shop-abcde/auth/providers/api-key/login",
                "{\"key\":\"\(key.key ?? "")\"}"
            )
        }
        #expect(await logIn().status == 200)
        #expect(await admin.call("PUT", "\(keys)/\(key.id)/disable").status == 204)
        #expect(await logIn().fields["error_code"] == "AuthError")
        #expect(
            try await admin.call("GET", keys).decode([KeyReport].self).first?.isDisabled == true
        )
        #expect(await admin.call("PUT", "\(keys)/\(key.id)/enable").status == 204)
        #expect(await logIn().status == 200)
        #expect(await admin.call("PUT", "\(keys)/none/disable").status == 404)
    }

    @Test("D2 After a termination old files start over, and new ones get the kept objects")
    func terminate() async throws {
        try await SyncWorld.with(.memory) { world in
            let user = try await world.logIn()
            let (file, latest) = try await world.connect(as: user) { client in
                let (file, _) = try await client.start()
                try await client.upload([
                    upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "kept")),
                ])
                let latest = try await client.expectDownload().progress.latestServerVersion
                #expect(
                    await world.admin.call("POST", "apps/shop-abcde/sync/terminate").status == 400
                )
                let reply = await world.admin.call(
                    "POST",
                    "apps/shop-abcde/sync/terminate?confirm=shop-abcde"
                )
                #expect(try reply.decode(AppSyncReport.self).state == .terminated)
                #expect(try await client.expectError(session: 1).code == 200)
                #expect(try await client.receive() == nil)
                return (file, latest)
            }
            await #expect(throws: AccountRefusal.syncPaused) {
                try await world.apps.accounts.authorizeSync(user.token, app: TestApps.shop)
            }
            await world.admin.call("PUT", "apps/shop-abcde/sync", "{\"state\":\"enabled\"}")
            try await world.connect(as: user) { client in
                try await client.bind(needsFileIdent: false)
                try await client.ident(1, file, at: downloadCursor(2, 3), latest: latest)
                let report = try await client.expectError(session: 1)
                #expect(report.code == 208)
                #expect(report.body.action == .clientReset)
                #expect(!report.body.tryAgain)
                #expect(report.body.shouldClientReset)
                try await client.send(.unbind(1))

                let (fresh, download) = try await client.start(2)
                #expect(fresh.ident.rawValue > file.ident.rawValue)
                #expect(download.changesets.map(\.originFileIdent) == [.server])
                #expect(download.progress.download.serverVersion > latest.version)
                #expect(
                    download.progress.download.serverVersion
                        == download.progress.latestServerVersion.version
                )
            }
        }
    }

    @Test("D10 Destructive calls need a confirmation, and every change is in the audit log")
    func audit() async throws {
        var app = TestApps.configurations[0]
        app.apiKey = true
        let apps = try await TestApps(apps: [app])
        let admin = TestAdmin(apps, .testing(apps))
        let user = await apps.logInAnonymously().fields["user_id"] ?? ""
        let shop = "apps/shop-abcde"
        let caller = AdminCaller(user: 998, process: 4711, login: 1000)
        let creation = #"{"id":"extra","configuration":"{}"}"#
        #expect(await admin.call("POST", "apps", creation).status == 201)
        let destructive: [(String, String, String, String, Int)] = [
            ("DELETE", "apps/extra", "extra", "", 204),
            ("POST", "\(shop)/sync/terminate", "shop-abcde", "", 200),
            (
                "POST", "\(shop)/realms/reset-client", "shop-abcde",
                #"{"partition":"\"a\"","client":7}"#, 404
            ),
            ("DELETE", "\(shop)/users/\(user)", "shop-abcde", "", 204),
        ]
        for (method, path, id, body, status) in destructive {
            for confirmation in ["", "?confirm=", "?confirm=other", "?confirmed=\(id)"] {
                let reply = await admin.call(method, path + confirmation, body, by: caller)
                #expect(reply.status == 400, "\(path)")
                #expect(reply.text.contains("MissingParameter"))
            }
            let reply = await admin.call(method, "\(path)?confirm=\(id)", body, by: caller)
            #expect(reply.status == status, "\(path)")
            let fields = try #require(admin.log.records.last).fields
            #expect(fields["method"] == method && fields["path"] == "/admin/v1/\(path)")
            #expect(fields["confirm"] == id)
            #expect(fields["outcome"] == (status < 300 ? "done" : "refused"))
            #expect(fields["status"] == "\(status)")
            #expect(fields["uid"] == "998" && fields["pid"] == "4711")
            #expect(fields["login_uid"] == "1000")
        }
        #expect(admin.log.records.count == 1 + destructive.count * 5)
        #expect(admin.log.records.allSatisfy { $0.message == "administration" })
        #expect(admin.log.records[11].fields["body_client"] == "7")

        // The subject of a call, without secrets; reads are not changes.
        let before = admin.log.records.count
        let account = #"{"email":"ann@example.net","password":"correct horse"}"#
        #expect(await admin.call("POST", "\(shop)/users", account).status == 201)
        #expect(await admin.call("POST", "\(shop)/server_keys", #"{"name":"k"}"#).status == 201)
        #expect(await admin.call("PUT", "\(shop)/sync", #"{"state":"enabled"}"#).status == 200)
        #expect(await admin.call("GET", "\(shop)/users").status == 200)
        #expect(await admin.call("POST", "\(shop)/nonsense").status == 404)
        let records = admin.log.records.dropFirst(before).map { $0.fields }
        #expect(records.map { $0["outcome"] } == ["done", "done", "done", "refused"])
        #expect(records.first?["body_email"] == "ann@example.net")
        #expect(!"\(records)".contains("correct horse"))
        #expect(records.map { $0["body_state"] } == [nil, nil, "enabled", nil])
    }

    @Test("A log-in session that ends between upgrade and first message ends its connection")
    func endedDuringUpgrade() async throws {
        try await SyncWorld.with(.memory) { world in
            let endings: [@Sendable (UserID, SessionDigest) async throws -> Void] = [
                { user, _ in try await world.apps.disable(user) },
                { user, _ in try await world.apps.remove(user) },
                { _, session in
                    try await world.apps.store.write {
                        try $0.revokeLoginSession(session, of: TestApps.shop)
                    }
                },
            ]
            for end in endings {
                // Authorized; what ends it now finds no connection to end.
                let user = try await world.logIn()
                try await end(user.user.id, try #require(user.user.session))
                try await world.connect(as: user) { client in
                    let error = await #expect(throws: TransportError.self) {
                        while try await client.receive() != nil {}
                    }
                    #expect(error == .closed(.unauthorized, reason: "session revoked"))
                }
            }
        }
    }

    @Test("D8 The connections of a disabled user end at once, and it cannot reconnect")
    func disable() async throws {
        try await SyncWorld.with(.memory) { world in
            let user = try await world.logIn()
            let id = user.user.id
            try await world.connect(as: user) { client in
                try await client.start()
                let reply = await world.admin.call("PUT", "apps/shop-abcde/users/\(id)/disable")
                #expect(reply.status == 204)
                let error = await #expect(throws: TransportError.self) {
                    while try await client.receive() != nil {}
                }
                #expect(error == .closed(.unauthorized, reason: "user disabled"))
            }
            let refusal = await world.apps.call("GET", "/auth/profile", token: user.token)
            #expect(refusal.status == 401)
            let reply = await world.admin.call("PUT", "apps/shop-abcde/users/\(id)/enable")
            #expect(reply.status == 204)
            let profile = await world.apps.call("GET", "/auth/profile", token: user.token)
            #expect(profile.status == 200)
        }
    }

    @Test("Lists of users and realms contain no secrets")
    func lists() async throws {
        try await SyncWorld.with(.memory) { world in
            let created = await world.admin.call(
                "POST",
                "apps/shop-abcde/users",
                "{\"email\":\"ann@example.net\",\"password\":\"correct horse\"}"
            )
            #expect(created.status == 201)
            #expect(!created.text.contains("horse"))
            #expect(await world.apps.logIn("ann@example.net", "correct horse").status == 200)
            let users = try await world.admin.call("GET", "apps/shop-abcde/users")
                .decode([AppUserReport].self)
            #expect(users.map { $0.identities.map(\.email) } == [["ann@example.net"]])

            try await world.connect { client in
                try await client.start()
                try await client.upload([
                    upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "x")),
                ])
                _ = try await client.expectDownload()
                let sync = try await world.admin.call("GET", "apps/shop-abcde/sync")
                    .decode(AppSyncReport.self)
                #expect(sync.connections == 1)
                #expect(sync.sessions == 1)
            }
            let realms = try await world.admin.call("GET", "apps/shop-abcde/realms")
                .decode([RealmReport].self)
            #expect(realms.map(\.partition) == ["\"store-42\""])
            #expect(realms.map(\.currentVersion) == [2])
            let realm = try await world.admin.call(
                "POST",
                "apps/shop-abcde/realms/inspect",
                "{\"partition\":\"\\\"store-42\\\"\"}"
            ).decode(RealmInspection.self)
            #expect(realm.classes == [.init(name: "Task", objects: 1)])
            #expect(realm.clients.map(\.clientVersion) == [3])
        }
    }

    @Test("Apps can be created and deleted while the server runs, and survive a restart")
    func apps() async throws {
        let apps = try await TestApps()
        let sync = SyncService.testing(apps)
        let admin = TestAdmin(apps, sync)
        let declaration = #"{"id":"till-1","configuration":"{\"providers\":{\"anonymous\":true}}"}"#
        #expect(await admin.call("POST", "apps", declaration).status == 201)
        #expect(await admin.call("POST", "apps", declaration).status == 409)
        let till = AppID.named("till-1")
        #expect(await apps.logInAnonymously(to: till).status == 200)

        let wrong = await admin.call(
            "POST",
            "apps",
            #"{"id":"till-2","configuration":"{\"provider\":1}"}"#
        )
        #expect(wrong.status == 400)
        #expect(wrong.text.contains("did you mean"))
        // What the file declares is changed there.
        #expect(
            await admin.call("DELETE", "apps/shop-abcde?confirm=shop-abcde").status == 409
        )

        let again = try await TestApps(store: apps.store, seed: 2)
        #expect(await again.logInAnonymously(to: till).status == 200)
        #expect(await admin.call("DELETE", "apps/till-1").status == 400)
        #expect(await admin.call("DELETE", "apps/till-1?confirm=till-1").status == 204)
        #expect(await apps.logInAnonymously(to: till).status == 404)
        let later = try await TestApps(store: apps.store)
        #expect(await later.logInAnonymously(to: till).status == 404)
    }

    @Test("Invalid admin calls get the same statuses as invalid client calls")
    func refusals() async throws {
        let apps = try await TestApps()
        let admin = TestAdmin(apps, SyncService.testing(apps))
        #expect(await admin.call("GET", "nonsense").status == 404)
        #expect(await admin.call("PATCH", "apps").status == 405)
        #expect(await admin.call("GET", "apps/unknown/sync").status == 404)
        #expect(await admin.call("PUT", "apps/shop-abcde/sync", "[]").status == 400)
        #expect(await admin.call("PUT", "apps/shop-abcde/users/none/disable").status == 404)
        #expect(await admin.call("GET", "health").text == "{\"status\":\"ok\"}")
    }

    @Test("The socket responds to its owner; without a server the error says so")
    func socket() async throws {
        try await withTemporaryDirectory { directory in
            let apps = try await TestApps()
            let path = "\(directory)/admin.sock"
            let client = AdminClient(socketPath: path)
            await #expect(throws: AdminClient.Failure.self) { try await client.call(.get, "apps") }
            let log = LogRecorder()
            let listener = AdminListener(
                path: path,
                api: AdminAPI(
                    accounts: apps.accounts,
                    sync: .testing(apps),
                    logger: .init(label: "test"),
                    audit: log.logger
                ),
                clock: apps.clock.wallClock,
                logger: .init(label: "test")
            )
            try await withThrowingTaskGroup { group in
                group.addTask { try await listener.run() }
                var answer: [UInt8] = []
                while answer.isEmpty {
                    answer = (try? await client.call(.get, "apps")) ?? []
                    try Task.checkCancellation()
                }
                let reports = try AdminJSON.decode([AppReport].self, from: answer)
                #expect(reports.map(\.id) == ["office-fghij", "shop-abcde"])
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
                // The kernel vouches for who it is.
                _ = try await client.call(
                    .put,
                    "apps/shop-abcde/sync",
                    body: Array(#"{"state":"enabled"}"#.utf8)
                )
                let fields = try #require(log.records.last).fields
                #expect(fields["uid"] == "\(geteuid())" && fields["pid"] == "\(getpid())")
                group.cancelAll()
            }
        }
    }
}
