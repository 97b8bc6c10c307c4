import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Testing

@testable import Control

@Suite("Operations on realms and users over the control socket", .timeLimit(.minutes(10)))
struct OperationTests {
    @Test("Operations on realms and users cross the socket with their parameters")
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
            let data = try await client.customData(of: "till-7")
            #expect(data == #"{"custom_data":{"teamName":"blue"}}"#)
            await #expect(throws: ControlError.unknownUser("x")) {
                try await client.customData(of: "x")
            }
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

    @Test("Requests about API keys cross the socket, and no description shows a secret")
    func apiKeys() async throws {
        try await ControlTests().withServer { client in
            let requests: [UserKeyRequest] = [
                .list, .create(name: "printer-7"), .enable(id: "65a1"), .disable(id: "65a1"),
                .delete(id: "65a1"),
            ]
            var ids: [String] = []
            for request in requests {
                let keys = try await client.apiKeys(of: "till-7", request).apiKeys
                ids += keys.map(\.id)
                for text in ["\(keys)", String(reflecting: keys)] {
                    #expect(!text.contains("secret"))
                }
                #expect(keys.map(\.key) == [request == requests[1] ? "secret" : nil])
            }
            #expect(
                ids == ["list", "create printer-7", "enable 65a1", "disable 65a1", "delete 65a1"]
            )
            await #expect(throws: ControlError.unknownUser("x")) {
                _ = try await client.apiKeys(of: "x", .list)
            }
        }
    }

    @Test("Copies and rejects cross the socket, and readiness has its own status code")
    func files() async throws {
        try await ControlTests().withServer { client in
            let request = CopyRequest(path: "/copy.sqlite", partition: "string:a", user: "u")
            let report = try await client.copy("stock", request)
            #expect(report.path == "/copy.sqlite")
            #expect(report.pendingUploadBytes == 2)
            let error = await #expect(throws: ControlError.self) {
                _ = try await client.copy("stock", CopyRequest(path: "/there", toLocal: true))
            }
            #expect(error?.code == "realm.file_exists")
            var progress: [CopyProgress] = []
            let again = try await client.copy("stock", request) { progress.append($0) }
            #expect(again == report)
            #expect(progress == [CopyProgress(writtenBytes: 1, sourceBytes: 2)])
            let late = await #expect(throws: ControlError.self) {
                _ = try await client.copy("stock", CopyRequest(path: "/there")) { _ in }
            }
            #expect(late?.code == "realm.file_exists")
            let rejects = try await client.rejects(of: "stock", limit: 5).rejects
            #expect(rejects == [ControlTests.Backend.reject])
            #expect(try ControlTests.Backend.reject.controlJSON().contains(#""class":"Item""#))
            await #expect(throws: ControlError.malformed("limit is a number from 1 to 1000")) {
                _ = try await client.rejects(of: "stock", limit: 0)
            }
            let socket = client.socketPath.replacing("/", with: "%2F")
            let reply = try await HTTPClient.shared.execute(
                HTTPClientRequest(url: "http+unix://\(socket)/v1/ready"),
                timeout: .seconds(180)
            )
            #expect(reply.status.code == 503)
            let body = String(buffer: try await reply.body.collect(upTo: 1 << 16))
            #expect(body == #"{"ready":false,"waiting":[{"realm":"stock","state":"progress"}]}"#)
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

    func copy(
        _ realm: String,
        _ request: CopyRequest
    ) async throws(ControlError) -> CopyReport {
        guard request.partition == "string:a" else {
            throw ControlError(code: "realm.file_exists", message: "there")
        }
        return CopyReport(
            source: realm,
            path: request.path,
            sizeInBytes: 1,
            pendingUploadBytes: 2,
            rejected: 0
        )
    }

    func copyWithProgress(_ realm: String, _ request: CopyRequest) -> AsyncStream<CopyLine> {
        AsyncStream { lines in
            Task {
                lines.yield(CopyLine(progress: CopyProgress(writtenBytes: 1, sourceBytes: 2)))
                do throws(ControlError) {
                    lines.yield(CopyLine(result: try await copy(realm, request)))
                } catch {
                    lines.yield(CopyLine(error: error))
                }
                lines.finish()
            }
        }
    }

    static let reject = RejectsReport.Reject(
        at: "2026-01-01T00:00:00.000Z",
        by: .server,
        className: "Item",
        key: "7",
        reason: "no",
        errorCode: 231,
        serverVersion: 9,
        rowBefore: "{}"
    )

    func rejects(of realm: String, limit: Int) async throws(ControlError) -> RejectsReport {
        RejectsReport(realm: realm, rejects: limit == 5 ? [Self.reject] : [])
    }

    func retryReject(_ id: Int64, of realm: String) async throws(ControlError) -> RetryReport {
        RetryReport(realm: realm, id: id, className: "Item", outcome: .written)
    }

    func readiness() async -> ReadinessReport {
        ReadinessReport(
            waiting: [.init(realm: "stock", state: .progress, cause: nil)]
        )
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

    func customData(of user: String) async throws(ControlError) -> String {
        guard user == "till-7" else { throw .unknownUser(user) }
        return #"{"teamName":"blue"}"#
    }

    func apiKeys(
        of user: String,
        _ request: UserKeyRequest
    ) async throws(ControlError) -> UserKeysReport {
        guard user == "till-7" else { throw .unknownUser(user) }
        let (id, key) =
            switch request {
            case .list: ("list", nil as String?)
            case .create(let name): ("create \(name)", "secret")
            case .enable(let id): ("enable \(id)", nil)
            case .disable(let id): ("disable \(id)", nil)
            case .delete(let id): ("delete \(id)", nil)
            }
        return UserKeysReport(
            apiKeys: [UserKeyReport(id: id, name: "printer", disabled: false, key: key)]
        )
    }

    static let user = UserReport(
        name: "till-7",
        app: "shop",
        provider: "anonymous",
        state: "logged-in"
    )
}
