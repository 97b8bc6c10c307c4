package import AppServices
package import SyncClient
import SyncProtocol
import Synchronization
package import Transport

/// Connects a user to the app's sync endpoint: App Services for log-in and location, a WebSocket for
/// messages.
package struct AppEndpoint: SyncEndpoint {
    let client: AppClient
    let user: UserSession
    let webSocket: WebSocketClient
    let headers: [(name: String, value: String)]
    /// Set by the first successful connection.
    private let hasConnected = ConnectedMark()

    package init(
        client: AppClient,
        user: UserSession,
        webSocket: WebSocketClient,
        headers: [(name: String, value: String)]
    ) {
        self.headers = headers
        self.client = client
        self.user = user
        self.webSocket = webSocket
    }

    package func token() async throws(EndpointFailure) -> EndpointToken {
        do throws(UserSession.Failure) {
            return EndpointToken(try await user.validAccount().accessToken.text)
        } catch {
            throw EndpointFailure(error)
        }
    }

    package func refreshToken(replacing token: EndpointToken) async throws(EndpointFailure) {
        guard let refused = Token(token.text) else { return }
        do throws(UserSession.Failure) {
            _ = try await user.refresh(replacing: refused)
        } catch {
            throw EndpointFailure(error)
        }
    }

    package func refreshLocation() async throws(EndpointFailure) {
        do throws(ServiceError) {
            try await client.refreshLocation()
        } catch {
            throw EndpointFailure(UserSession.failure(error))
        }
    }

    package func logOut() async {
        try? await user.forget()
    }

    package func isVerified() async -> Bool {
        if hasConnected.isSet { return true }
        return await client.syncRoute.isVerified
    }

    package func withConnection(
        _ token: EndpointToken,
        subProtocols: String,
        _ body: @escaping @Sendable (any MessageStream) async throws -> Void
    ) async throws {
        let route = await client.syncRoute.url
        let mark = hasConnected
        try await webSocket.withConnection(
            to: route,
            .init(
                query: "baas_at=\(token.text)",
                subProtocols: [subProtocols],
                headers: headers
            )
        ) { stream in
            mark.set()
            try await body(stream)
        }
    }
}

/// A flag that is set once.
private final class ConnectedMark: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    package func set() {
        flag.store(true, ordering: .relaxed)
    }
}

extension EndpointFailure {
    fileprivate init(_ failure: UserSession.Failure) {
        self =
            switch failure {
            case .unavailable, .storage:
                .unavailable(
                    reason: failure.message,
                    error: ConnectionError(code: failure.code, sdkCode: failure.sdkCode)
                )
            case .anonymousSessionEnded, .loggedOut, .logInRefused:
                .loginRequired(reason: failure.message, code: failure.code)
            }
    }
}
