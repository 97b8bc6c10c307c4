import SyncClient
import Synchronization
import Transport

/// A client's connection to the server over the simulated network, with tokens that expire.
final class SimulatedEndpoint: SyncEndpoint {
    private let client: Int
    private let network: SimulatedNetwork
    private let now: @Sendable () -> Int64
    /// Of the current token, in milliseconds since 1970.
    private let expiry = Mutex<Int64>(0)

    init(client: Int, _ network: SimulatedNetwork, now: @escaping @Sendable () -> Int64) {
        self.client = client
        self.network = network
        self.now = now
    }

    func token() async throws(EndpointFailure) -> EndpointToken {
        // The client's clock may be behind: then the server notices.
        let isFresh = expiry.withLock { $0 } > now() - 2_000
        if !isFresh { try await fetch() }
        return EndpointToken("\(expiry.withLock { $0 })")
    }

    func refreshToken(replacing token: EndpointToken) async throws(EndpointFailure) {
        if token.text == "\(expiry.withLock { $0 })" { try await fetch() }
    }

    private func fetch() async throws(EndpointFailure) {
        do {
            try await network.time.sleep(network.milliseconds(1...200))
        } catch {
            throw .unavailable(reason: "cancelled")
        }
        guard network.isPlugged(client), network.hasServer else {
            throw .unavailable(reason: "no network")
        }
        expiry.withLock { expiry in
            expiry = now() + SimulatedApp.tokenLifetimeInMilliseconds
        }
    }

    func refreshLocation() async throws(EndpointFailure) {}

    func logOut() async {}

    func isVerified() async -> Bool { true }

    func withConnection(
        _ token: EndpointToken,
        subProtocols: String,
        _ body: @escaping @Sendable (any MessageStream) async throws -> Void
    ) async throws {
        try await network.withConnection(
            of: client,
            tokenExpiry: Int64(token.text) ?? 0,
            subProtocols: subProtocols,
            body
        )
    }
}
