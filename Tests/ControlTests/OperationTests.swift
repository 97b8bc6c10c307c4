import Testing

@testable import Control

@Suite("Operations on realms and users over the control socket")
struct OperationTests {
    @Test("Operations on realms and users cross the socket with what they say")
    func operations() async throws {
        try await ControlTests().withServer { client in
            let request = WaitRequest(directions: [.upload], timeoutInSeconds: 2.5)
            #expect(try await client.wait(request, for: "stock").outcome == .timedOut)
            try await client.suspend("stock", SuspendRequest(seconds: 60))
            try await client.resume("stock")
            try await client.reconnect()
            let deleted = try await client.delete("stock", DeleteRequest(force: true))
            #expect(deleted.files == ["/data/stock.sqlite"])
            #expect(try await client.users().users == [ControlTests.Backend.user])
            for operation in UserOperation.allCases {
                let report = try await client.perform(
                    operation,
                    on: "till-7",
                    UserRequest(force: true, token: "t")
                )
                #expect(report.state == "\(operation.rawValue) t true")
            }
            await #expect(throws: ControlError.unknownUser("x")) {
                _ = try await client.perform(.login, on: "x", UserRequest())
            }
        }
    }

    @Test("Progress comes line by line, and an unknown realm is an error")
    func progress() async throws {
        try await ControlTests().withServer { client in
            var estimates: [Double] = []
            let request = ProgressRequest(direction: .upload, mode: .outstanding)
            try await client.progress(request, of: "stock") { estimates.append($0.estimate) }
            #expect(estimates == [0.25, 1])
            await #expect(throws: ControlError.unknownRealm("x")) {
                try await client.progress(request, of: "x") { _ in }
            }
        }
    }
}

extension ControlTests.Backend {
    func wait(
        _ request: WaitRequest,
        for realm: String
    ) async throws(ControlError) -> SyncReport {
        let isRight = request == WaitRequest(directions: [.upload], timeoutInSeconds: 2.5)
        return SyncReport(realm: realm, outcome: isRight ? .timedOut : .done)
    }

    func progress(
        _ request: ProgressRequest,
        of realm: String
    ) async throws(ControlError) -> AsyncStream<ProgressReport> {
        guard realm == "stock" else { throw .unknownRealm(realm) }
        return AsyncStream { continuation in
            for bytes in [UInt64(1), 4] {
                continuation.yield(
                    ProgressReport(
                        realm: realm,
                        direction: request.direction.rawValue,
                        transferredBytes: bytes,
                        transferableBytes: 4,
                        estimate: Double(bytes) / 4
                    )
                )
            }
            continuation.finish()
        }
    }

    func suspend(_ realm: String, _ request: SuspendRequest) async throws(ControlError) {
        guard request.seconds == 60 else { throw .unknownRealm(realm) }
    }

    func resume(_ realm: String) async throws(ControlError) {}
    func reconnect() async {}

    func delete(
        _ realm: String,
        _ request: DeleteRequest
    ) async throws(ControlError) -> DeleteReport {
        guard request.force == true else { throw .unknownRealm(realm) }
        return DeleteReport(realm: realm, files: ["/data/stock.sqlite"])
    }

    func users() async throws(ControlError) -> UsersReport {
        UsersReport(users: [Self.user])
    }

    func perform(
        _ operation: UserOperation,
        on user: String,
        _ request: UserRequest
    ) async throws(ControlError) -> UserReport {
        guard user == "till-7" else { throw .unknownUser(user) }
        var report = Self.user
        report.state = "\(operation.rawValue) \(request.token ?? "") \(request.force ?? false)"
        return report
    }

    static let user = UserReport(
        name: "till-7",
        app: "shop",
        provider: "anonymous",
        state: "logged-in"
    )
}
