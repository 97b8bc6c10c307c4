import FoundationEssentials
import Logging
import ServerFixtures

@testable import SQLiteServerStore
@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerHTTP
@testable import ServerStore
@testable import SyncServer

/// Accounts of two apps on a strict store in memory, with cheap password hashes.
struct TestApps {
    let clock = ManualClock()
    let store: any Store
    let accounts: Accounts
    let services: ClientAPI
    private let sync: SyncService

    static let shop = AppID.named("shop-abcde")
    static let office = AppID.named("office-fghij")

    static let configurations = [
        ServedAppConfiguration(
            id: shop,
            isDevelopmentMode: true,
            anonymous: true,
            emailPassword: EmailPasswordConfiguration()
        ),
        ServedAppConfiguration(id: office, anonymous: true),
    ]

    init(
        store: (any Store)? = nil,
        apps: [ServedAppConfiguration] = Self.configurations,
        publicURL: PublicURL? = nil,
        secrets: SecretReader = SecretReader(environment: [:]),
        backplane: any Backplane = InProcessBackplane(),
        seed: UInt64 = 1
    ) async throws {
        if let store {
            self.store = store
        } else {
            self.store = try await .strictOfRun()
        }
        self.accounts = try await Accounts(
            apps: apps,
            store: self.store,
            backplane: backplane,
            hasher: PasswordHasher(cost: 1),
            secrets: secrets,
            clock: clock.wallClock,
            random: .seeded(seed)
        )
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        self.sync = SyncService(
            apps: accounts.apps,
            backplane: accounts.backplane,
            engine: SyncEngine(
                store: self.store,
                clock: clock.wallClock,
                random: .seeded(seed &+ 5)
            ),
            clock: clock.wallClock,
            random: .seeded(seed &+ 6),
            logger: logger
        )
        self.services = ClientAPI(
            accounts: accounts,
            sync: sync,
            publicAddress: PublicAddress(publicURL),
            logger: logger
        )
    }

    func call(
        _ method: String,
        _ path: String,
        _ body: String = "",
        token: String? = nil,
        address: String = "192.0.2.1"
    ) async -> Reply {
        let target = path.split(separator: "?", maxSplits: 1).map(String.init)
        let response = await services.respond(
            to: ClientAPIRequest(
                method: method,
                path: "/api/client/v2.0\(target[0])",
                query: target.count > 1 ? target[1] : "",
                authorization: token.map { "Bearer \($0)" },
                host: "sync.test:9090",
                address: address,
                body: Array(body.utf8)
            )
        )
        return Reply(response: response)
    }

    struct Reply {
        let response: ClientAPIResponse

        var status: Int { response.status }
        var text: String { response.body.map { String(decoding: $0, as: UTF8.self) } ?? "" }
        var fields: [String: String] { decode([String: String].self) ?? [:] }

        func decode<Value: Decodable>(_ type: Value.Type) -> Value? {
            response.body.flatMap { try? JSONDecoder().decode(type, from: Data($0)) }
        }
    }

    func logInAnonymously(to app: AppID = Self.shop) async -> Reply {
        await call("POST", "/app/\(app)/auth/providers/anon-user/login", "{}")
    }

    func register(_ email: String, _ password: String) async -> Reply {
        await call(
            "POST",
            "/app/\(Self.shop)/auth/providers/local-userpass/register",
            "{\"email\":\"\(email)\",\"password\":\"\(password)\"}"
        )
    }

    func logIn(_ name: String, _ password: String, address: String = "192.0.2.1") async -> Reply {
        await call(
            "POST",
            "/app/\(Self.shop)/auth/providers/local-userpass/login",
            "{\"username\":\"\(name)\",\"password\":\"\(password)\",\"provider\":\"local-userpass\"}",
            address: address
        )
    }

    func disable(_ user: UserID, of app: AppID = Self.shop) async throws {
        try await store.write { try $0.setDisabled(true, user: user, of: app) }
    }

    func enable(_ user: UserID, of app: AppID = Self.shop) async throws {
        try await store.write { try $0.setDisabled(false, user: user, of: app) }
    }

    func remove(_ user: UserID, of app: AppID = Self.shop) async throws {
        try await store.write { try $0.removeUser(user, of: app) }
    }
}
