import AppServices
import FoundationEssentials
import SQLite
import TestSupport
import Testing

@testable import RealmSync

@Suite("Accounts in the metadata database")
struct MetadataDatabaseTests {
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    var path: String { temporary.file("metadata.sqlite") }

    func store(_ database: MetadataDatabase, user: String = "till", app: String = "shop")
        -> MetadataAccountStore
    {
        MetadataAccountStore(database: database, user: user, appID: app, now: { 7 })
    }

    static func account(_ userID: String) throws -> Account {
        // {"exp":9,"iat":1}
        let token = try #require(Token("h.eyJleHAiOjksImlhdCI6MX0.s-\(userID)"))
        return Account(
            userID: userID,
            deviceID: "device",
            provider: "anon-user",
            accessToken: token,
            refreshToken: token
        )
    }

    @Test("An account outlives the process, and belongs to one user of one app")
    func roundTrip() async throws {
        let account = try Self.account("u1")
        try await store(MetadataDatabase(path: path)).save(account)
        let database = try MetadataDatabase(path: path)
        #expect(try await store(database).load() == account)
        #expect(try await store(database, user: "other").load() == nil)
        #expect(try await store(database, app: "other").load() == nil)
        let fresh = try Self.account("u2")
        try await store(database).save(fresh)
        #expect(try await store(database).load() == fresh)
    }

    @Test("After a log-out the tokens are gone from the file, and the user id is kept")
    func forget() async throws {
        let database = try MetadataDatabase(path: path)
        try await store(database).save(Self.account("u1"))
        try await store(database, user: "other").save(Self.account("u3"))
        try await store(database).forgetTokens()
        #expect(try await store(database).load() == nil)
        #expect(try await store(database, user: "other").load() != nil)
        let connection = try Connection(path: path)
        let row = try connection.row("SELECT user_id, state FROM user WHERE name = 'till'")
        #expect(row == [.text("u1"), .text("expired")])
        #expect(
            try connection.integer("SELECT count(*) FROM user WHERE access_token LIKE '%u1'") == 0
        )
        connection.close()
    }

    @Test("The last location is kept for the base URL that it was asked from")
    func location() async throws {
        let path = temporary.file("metadata.sqlite")
        let location = Location(httpHost: "https://b", syncRoute: "wss://b/sync")
        do {
            let database = try MetadataDatabase(path: path)
            #expect(try await database.location(appID: "shop", baseURL: "https://a") == nil)
            let old = Location(httpHost: "https://c", syncRoute: "wss://c/sync")
            for answer in [old, location] {
                try await database.keep(answer, appID: "shop", baseURL: "https://a", at: 7)
            }
        }
        let database = try MetadataDatabase(path: path)
        #expect(try await database.location(appID: "shop", baseURL: "https://a") == location)
        #expect(try await database.location(appID: "shop", baseURL: "https://b") == nil)
        #expect(try await database.location(appID: "other", baseURL: "https://a") == nil)
    }

    @Test("A damaged database is refused with a remedy, and left unchanged")
    func damaged() throws {
        let bytes = Data(repeating: 0x61, count: 4096)
        try bytes.write(to: URL(filePath: path))
        let failure = #expect(throws: MetadataDatabase.Inaccessible.self) {
            _ = try MetadataDatabase(path: path)
        }
        #expect(failure?.isDiskFull == false)
        #expect(
            failure?.description
                == "\(path) cannot be used: file is not a database; restore it from a backup, or move it "
                + "away to log in again"
        )
        #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    }

    @Test("A database of a later version is refused by name, and left unchanged")
    func laterLayout() throws {
        let connection = try Connection(path: path)
        try connection.execute(
            "CREATE TABLE layout(version INTEGER); INSERT INTO layout VALUES (9)"
        )
        let failure = #expect(throws: MetadataDatabase.UnknownLayout.self) {
            _ = try MetadataDatabase(path: path)
        }
        #expect(
            failure?.description
                == "\(path) has layout 9, which this version does not know; install "
                + "the version that wrote it, or go back to what that version kept as "
                + "\(path).layout-N, or move the file away to log in again"
        )
        let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
        #expect(tables == 1)
        connection.close()
    }

    @Test("The record of a realm outlives the process; times that are nil change nothing")
    func realms() async throws {
        let database = try MetadataDatabase(path: path)
        let register = MetadataRealmRegister(database: database, realm: "stock")
        #expect(try await register.record() == nil)
        try await register.keep(Suspension(until: 5, author: .plugin(name: "ops")))
        #expect(try await register.record() == nil)
        var record = RealmRecord(
            path: "/stock.sqlite",
            instance: "00",
            home: "box",
            appID: "shop",
            userID: "u1",
            partition: "\"p\"",
            localVersion: 3,
            isFirstDownloadFinished: true,
            lastConnected: 7
        )
        try await register.keep(record)
        record.lastConnected = nil
        record.lastUploaded = 8
        try await register.keep(record)
        record.lastConnected = 7
        let later = MetadataRealmRegister(
            database: try MetadataDatabase(path: path),
            realm: "stock"
        )
        #expect(try await later.record() == record)
        #expect(
            try await later.suspension() == Suspension(until: 5, author: .plugin(name: "ops"))
        )
        try await later.keep(nil as Suspension?)
        #expect(try await register.suspension() == nil)
        try await database.forget(realm: "stock")
        #expect(try await register.record() == nil)
    }

    @Test("A database of the first layout is upgraded, with its accounts")
    func firstLayout() async throws {
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE layout(version INTEGER NOT NULL) STRICT;
            INSERT INTO layout VALUES (1);
            CREATE TABLE user(
                name TEXT PRIMARY KEY, app_id TEXT NOT NULL, user_id TEXT NOT NULL,
                device_id TEXT NOT NULL, provider TEXT NOT NULL, state TEXT NOT NULL,
                access_token TEXT, refresh_token TEXT, logged_in_at INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE realm(name TEXT PRIMARY KEY, instance BLOB NOT NULL) STRICT;
            INSERT INTO user VALUES ('till', 'shop', 'u1', 'd', 'anon-user', 'logged-in',
                'h.eyJleHAiOjksImlhdCI6MX0.s', 'h.eyJleHAiOjksImlhdCI6MX0.s', 1);
            """
        )
        connection.close()
        let database = try MetadataDatabase(path: path)
        #expect(try await store(database).load()?.userID == "u1")
        let register = MetadataRealmRegister(database: database, realm: "stock")
        try await register.keep(Suspension())
        #expect(try await register.suspension() == Suspension())
        // What the older version needs is still there, as private as it was.
        let copy = "\(path).layout-1"
        let kept = try Connection(path: copy, .init(mode: .readOnly))
        #expect(try kept.integer("SELECT version FROM layout") == 1)
        #expect(try kept.integer("SELECT count(*) FROM user") == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
}
