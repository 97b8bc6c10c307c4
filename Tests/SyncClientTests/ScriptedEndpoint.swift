import ScriptedPeers
import Synchronization
import Transport

@testable import SyncClient

/// An endpoint whose connections lead to a body that plays the server.
final class ScriptedEndpoint: SyncEndpoint {
    typealias Play = @Sendable (ScriptedServer) async throws -> Void

    private struct State {
        var plays: [Play?]
        var token = 1
        var calls: [Call] = []
        var tokens: [String] = []
        var refusal: EndpointFailure?
    }

    /// The connection's requests other than for tokens.
    enum Call: Equatable {
        case refreshToken(String)
        case refreshLocation
        case logOut
    }

    private let state: Mutex<State>

    /// One play for each attempt to connect; a missing play, and the end of the list, mean no
    /// server.
    init(_ plays: Play?...) {
        self.state = Mutex(State(plays: plays))
    }

    /// Sets the plays of the next attempts to connect.
    func play(_ plays: Play?...) {
        state.withLock { $0.plays += plays }
    }

    var calls: [Call] { state.withLock { $0.calls } }

    /// With which tokens it was connected to.
    var tokens: [String] { state.withLock { $0.tokens } }

    /// From now on there are no tokens.
    func refuse(_ failure: EndpointFailure?) {
        state.withLock { $0.refusal = failure }
    }

    func token() async throws(EndpointFailure) -> EndpointToken {
        let (number, refusal) = state.withLock { ($0.token, $0.refusal) }
        if let refusal { throw refusal }
        return EndpointToken("token \(number)")
    }

    func refreshToken(replacing token: EndpointToken) async throws(EndpointFailure) {
        let refusal = state.withLock { state in
            state.calls.append(.refreshToken(token.text))
            if state.refusal == nil { state.token += 1 }
            return state.refusal
        }
        if let refusal { throw refusal }
    }

    func refreshLocation() async throws(EndpointFailure) {
        state.withLock { $0.calls.append(.refreshLocation) }
    }

    func logOut() async {
        state.withLock { $0.calls.append(.logOut) }
    }

    func isVerified() async -> Bool { true }

    func withConnection(
        _ token: EndpointToken,
        subProtocols: String,
        _ body: @escaping @Sendable (any MessageStream) async throws -> Void
    ) async throws {
        let play = state.withLock { state in
            state.tokens.append(token.text)
            return state.plays.isEmpty ? nil : state.plays.removeFirst()
        }
        guard let play else { throw TransportError.unreachable(reason: "no server is there") }
        let pair = InMemoryStream.makePair(subProtocol: "com.mongodb.realm-sync#14")
        try await withThrowingTaskGroup { group in
            group.addTask {
                defer { pair.server.cut() }
                try await play(ScriptedServer(stream: pair.server))
            }
            defer { group.cancelAll() }
            try await body(pair.client)
        }
    }
}
