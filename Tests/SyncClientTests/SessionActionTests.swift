import ScriptedPeers
import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Transport

@testable import SyncClient

@Suite("Errors of a session that are about the user or the address", .timeLimit(.minutes(10)))
struct SessionActionTests {
    /// Refuses the first session of the connection with that action.
    static func refuse(_ action: String, tryAgain: Bool = false) -> ScriptedEndpoint.Play {
        { server in
            guard case .bind(let bind) = try await server.receive() else { return }
            try await server.sendError(201, action: action, tryAgain: tryAgain, bind.session)
            // Nothing may follow on this connection, and least of all another BIND.
            while let message = try? await server.receive() {
                Issue.record("\(message.name) after the error")
            }
        }
    }

    /// Serves the next connection, on which the same session binds again.
    static let serve: ScriptedEndpoint.Play = { server in
        let session = try await server.open(RealmOnConnection.file)
        #expect(session == .first)
        while true {
            guard case .mark(_, let request) = try await server.receive() else { continue }
            try await server.send(.mark(session, request))
        }
    }

    /// Serves a session whose file has its ident from an earlier connection.
    static let resume: ScriptedEndpoint.Play = { server in
        guard case .bind(let bind) = try await server.receive() else { return }
        #expect(!bind.needsFileIdent)
        while true {
            guard case .mark(_, let request) = try await server.receive() else { continue }
            try await server.send(.mark(bind.session, request))
        }
    }

    @Test("RefreshUser: a new token, and the session binds again with it, at once")
    func refreshUser() async throws {
        let endpoint = ScriptedEndpoint(Self.refuse("RefreshUser"), Self.serve)
        let problems = Mutex<[Bool]>([])
        let report: @Sendable (RealmClientEvent) -> Void = { news in
            guard case .problem(_, let isFatal) = news else { return }
            problems.withLock { $0.append(isFatal) }
        }
        try await RealmOnConnection.with(endpoint, report: report) { realm, _, _ in
            try await until { await realm.snapshot().phase == .bound }
            #expect(endpoint.calls == [.refreshToken("token 1")])
            #expect(endpoint.tokens == ["token 1", "token 2"])
        }
        #expect(problems.withLock { $0 } == [false])
    }

    @Test("RefreshLocation: the address first, then the token, then the session again")
    func refreshLocation() async throws {
        let endpoint = ScriptedEndpoint(Self.refuse("RefreshLocation"), Self.serve)
        try await RealmOnConnection.with(endpoint) { realm, _, _ in
            try await until { await realm.snapshot().phase == .bound }
            #expect(endpoint.calls == [.refreshLocation, .refreshToken("token 1")])
        }
    }

    @Test(
        "LogOutUser: the tokens are deleted, waiters get the reason, and a later log-in binds again"
    )
    func logOutUser() async throws {
        let endpoint = ScriptedEndpoint(Self.refuse("LogOutUser"), Self.serve)
        try await RealmOnConnection.with(endpoint) { realm, connection, _ in
            // Not `sync`, which asks for another attempt at once.
            let outcome = await realm.wait(
                for: TransferDirection.allCases,
                timeout: .seconds(60),
                .continuous
            )
            let reason = "the server refuses this user"
            #expect(outcome == .loginRequired(reason: reason))
            #expect(await realm.snapshot().phase == .offline(.loginRequired(reason: reason)))
            #expect(endpoint.calls == [.logOut])
            connection.reconnect()
            try await until { await realm.snapshot().phase == .bound }
        }
    }

    @Test("A refresh that fails leaves the session to the back-off, or to a new log-in")
    func refusedRefresh() async throws {
        let failures: [(EndpointFailure, OfflineCause)] = [
            (.unavailable(reason: "503"), .backoff(reason: "503")),
            (.loginRequired(reason: "expired"), .loginRequired(reason: "expired")),
        ]
        for (failure, cause) in failures {
            let endpoint = ScriptedEndpoint()
            endpoint.play(
                { server in
                    guard case .bind(let bind) = try await server.receive() else { return }
                    endpoint.refuse(failure)
                    try await server.sendError(
                        201,
                        action: "RefreshUser",
                        tryAgain: true,
                        bind.session
                    )
                    try await server.listen()
                },
                Self.serve
            )
            try await RealmOnConnection.with(endpoint) { realm, connection, _ in
                try await until { await realm.snapshot().phase == .offline(cause) }
                endpoint.refuse(nil)
                connection.reconnect()
                try await until { await realm.snapshot().phase == .bound }
            }
        }
    }

    @Test("The same actions in an error of the connection, whether or not it may try again")
    func connectionError() async throws {
        for tryAgain in [false, true] {
            let endpoint = ScriptedEndpoint(
                { server in
                    try await server.sendError(
                        101,
                        action: "RefreshUser",
                        tryAgain: tryAgain,
                        nil
                    )
                    try? await server.listen()
                },
                Self.serve
            )
            try await RealmOnConnection.with(endpoint) { realm, _, _ in
                try await until { await realm.snapshot().phase == .bound }
                #expect(endpoint.calls == [.refreshToken("token 1")])
            }
        }
    }

    @Test("A server that repeatedly asks for a refresh is asked again only after a delay")
    func endlessRefresh() async throws {
        let endpoint = ScriptedEndpoint(
            Self.refuse("RefreshUser"),
            Self.refuse("RefreshUser"),
            Self.serve
        )
        try await RealmOnConnection.with(endpoint) { realm, connection, _ in
            let cause = OfflineCause.backoff(
                reason: "no [sync.other_session_error]",
                error: ConnectionError(code: "sync.other_session_error", sdkCode: nil)
            )
            try await until { await realm.snapshot().phase == .offline(cause) }
            #expect(endpoint.tokens.count == 2)
            connection.reconnect()
            try await until { await realm.snapshot().phase == .bound }
        }
    }
}
