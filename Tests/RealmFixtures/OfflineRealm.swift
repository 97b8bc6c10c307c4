package import AppServices
import Changesets
import FoundationEssentials
import Logging
import Platform
package import RealmSync
import Scheduling
import Scopes
import SyncClient
import SyncProtocol
package import TestSupport
import Transport

/// A realm that can never be brought up: its server refuses every log-in, or never answers.
package struct OfflineRealm {
    private let temporary: TemporaryDirectory

    package init(in temporary: TemporaryDirectory) {
        self.temporary = temporary
    }

    package var path: String { temporary.file("stock/stock.sqlite") }
    package var recoveredDirectory: String { temporary.file("recovered") }

    package func database() throws -> MetadataDatabase {
        try MetadataDatabase(path: temporary.file("metadata.sqlite"))
    }

    /// - Parameter status: what the server answers to every request; nil if it never answers.
    package func realm(
        status: Int?,
        exchange: (any HTTPExchange)? = nil,
        report: @escaping @Sendable (RealmEvent) -> Void = { _ in }
    ) throws -> SyncedRealm {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let client = AppClient(
            appID: "shop",
            baseURL: "http://127.0.0.1:1",
            fixedLocation: .fixed(http: "http://127.0.0.1:1", webSocket: "ws://x", appID: "shop"),
            device: DeviceDescription(
                platformVersion: "1",
                sdkVersion: "1",
                architecture: "x",
                name: "box"
            ),
            exchange: exchange ?? FixedExchange(status: status),
            timeout: .seconds(60)
        )
        let user = UserSession(
            client: client,
            store: NoAccounts(),
            registersAccount: false,
            credential: { () throws(UserSession.Failure) in .anonymous },
            now: { 0 }
        )
        let connection = UserConnection(
            endpoint: Nowhere(),
            timing: .init(),
            reconnect: .init(),
            time: .continuous,
            random: SplitMix64(seed: 1),
            logger: logger
        )
        let now = { @Sendable in WallTime.now().millisecondsSince1970 }
        return SyncedRealm(
            RealmContext(
                options: RealmOptions(name: "stock", path: path, partition: .string("p")),
                appID: "shop",
                user: user,
                connection: connection,
                opener: RealmOpener(
                    machineID: "machine",
                    time: .continuous,
                    now: now,
                    logs: RealmLogs { _ in logger }
                ),
                register: MetadataRealmRegister(database: try database(), realm: "stock"),
                recoveredDirectory: recoveredDirectory,
                version: "1",
                time: .continuous,
                now: now,
                report: report,
                logger: logger,
                resetLogger: logger
            ),
            pauses: AttemptPauses(
                initial: .seconds(600),
                maximum: .seconds(600),
                multiplier: 1
            )
        )
    }
}

/// Answers every request with a status, or never.
private struct FixedExchange: HTTPExchange {
    let status: Int?

    func perform(
        _ request: ServiceRequest,
        timeout: Duration
    ) async throws(UnreachableError) -> ServiceResponse {
        guard let status else {
            try? await Task.sleep(for: .seconds(600))
            throw UnreachableError(reason: "cancelled")
        }
        let body = #"{"error":"no","error_code":"InvalidPassword"}"#
        return ServiceResponse(
            status: status,
            contentType: "application/json",
            body: Array(body.utf8)
        )
    }
}

/// An endpoint that is never connected to.
private struct Nowhere: SyncEndpoint {
    func token() async throws(EndpointFailure) -> EndpointToken { EndpointToken("") }
    func refreshToken(replacing token: EndpointToken) async throws(EndpointFailure) {}
    func refreshLocation() async throws(EndpointFailure) {}
    func logOut() async {}
    func isVerified() async -> Bool { true }
    func withConnection(
        _ token: EndpointToken,
        subProtocols: String,
        _ body: @escaping @Sendable (any MessageStream) async throws -> Void
    ) async throws { throw TransportError.connectTimeout }
}

private struct NoAccounts: AccountStore {
    func load() async throws -> Account? { nil }
    func save(_ account: Account) async throws {}
    func forgetTokens() async throws {}
    func markRefused() async throws {}
    func isRefused() async throws -> Bool { false }
    func isLoggedOut() async throws -> Bool { false }
    func logOut() async throws {}
    func remove() async throws {}
}
