package import Transport

/// Supplies the address and token of a user's sync connection; log-in and location are handled
/// elsewhere.
package protocol SyncEndpoint: Sendable {
    /// A token to connect with, refreshed if it is about to expire.
    func token() async throws(EndpointFailure) -> EndpointToken
    /// The server refused the token: get another.
    func refreshToken(replacing token: EndpointToken) async throws(EndpointFailure)
    /// The address may be wrong: request it again.
    func refreshLocation() async throws(EndpointFailure)
    /// The server refused the user permanently.
    func logOut() async
    /// Whether the address came from the server, or a connection to it has stood before.
    func isVerified() async -> Bool
    /// Connects and lends the stream to the body.
    func withConnection(
        _ token: EndpointToken,
        subProtocols: String,
        _ body: @escaping @Sendable (any MessageStream) async throws -> Void
    ) async throws
}

/// Identifies a token to its endpoint; the token itself stays inside the endpoint.
package struct EndpointToken: Sendable, Equatable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }
}

extension EndpointToken: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The reason why there is no token or no address.
package enum EndpointFailure: Error, Sendable, Equatable {
    /// Time can heal it.
    case unavailable(reason: String, error: ConnectionError? = nil)
    /// The user must log in again, which an operator must enable.
    /// The code is one of `docs/errors.md`.
    case loginRequired(reason: String, code: String = "auth.refused")
}
