import FoundationEssentials
import Logging
import ServerFixtures

@testable import ServerHTTP
@testable import ServerStore
@testable import SyncServer

/// The admin API of a world, without a socket.
struct TestAdmin {
    private let api: AdminAPI
    let log = LogRecorder()

    init(_ apps: TestApps, _ sync: SyncService) {
        self.api = AdminAPI(
            accounts: apps.accounts,
            sync: sync,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            audit: log.logger
        )
    }

    @discardableResult
    func call(
        _ method: String,
        _ path: String,
        _ body: String = "",
        by caller: AdminCaller? = nil
    ) async -> Reply {
        let target = path.split(separator: "?", maxSplits: 1).map(String.init)
        return Reply(
            response: await api.respond(
                to: ClientAPIRequest(
                    method: method,
                    path: "/admin/v1/\(target[0])",
                    query: target.count > 1 ? target[1] : "",
                    body: Array(body.utf8)
                ),
                by: caller
            )
        )
    }

    struct Reply {
        let response: ClientAPIResponse

        var status: Int { response.status }
        var text: String { response.body.map { String(decoding: $0, as: UTF8.self) } ?? "" }

        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try AdminJSON.decode(type, from: response.body ?? [])
        }
    }
}
