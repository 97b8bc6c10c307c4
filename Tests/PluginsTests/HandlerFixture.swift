import FoundationEssentials
import Logging
import Platform
import Plugins
import Scheduling
import Settings
import Synchronization

/// Requests and environment for tests of handlers.
enum HandlerFixture {
    static let subject = HandlerSubject(
        realm: "stock",
        app: "shop-abcde",
        user: "till-7",
        path: "/data/stock.sqlite"
    )

    static let error = HandlerRequest(
        .error(
            SyncErrorReport(
                code: "auth.token_expired",
                sdkCode: 5,
                message: "the token has expired",
                isFatal: true,
                logURL: "https://log.example/1"
            )
        ),
        of: subject
    )

    static let rejects = HandlerRequest(
        .writeRejected([
            RejectedWriteSummary(
                className: "Task",
                key: "{\"$numberInt\":\"7\"}",
                reason: "not yours"
            ),
            RejectedWriteSummary(
                className: "Task",
                key: "{\"$numberInt\":\"8\"}",
                reason: "nor this"
            ),
        ]),
        of: subject
    )

    /// 2026-11-20T22:30:00Z
    static let start = WallTime(millisecondsSince1970: 1_795_213_800_000)

    static func environment(
        clock: TestClock = TestClock(),
        files: any RealmFiles = NoFiles(),
        units: any UnitStarter = StartedUnits(),
        webhooks: any WebhookSender = NoWebhooks(),
        log: RecordedLog = RecordedLog()
    ) -> HandlerEnvironment {
        HandlerEnvironment(
            logger: log.logger,
            now: { clock.now },
            readSecret: { reference in
                guard case .environment("TOKEN") = reference else { throw MissingSecret() }
                return "s3cret"
            },
            files: files,
            units: units,
            webhooks: webhooks
        )
    }

    struct MissingSecret: Error {}
}

final class TestClock: Sendable {
    private let time = Mutex(HandlerFixture.start.millisecondsSince1970)

    var now: WallTime { WallTime(millisecondsSince1970: time.withLock { $0 }) }

    func advance(by duration: Duration) {
        time.withLock { $0 += Int64(duration / .milliseconds(1)) }
    }
}

struct NoFiles: RealmFiles {
    func copy(realmAt path: String, to destination: String) async throws(RealmFilesFailure) {
        throw RealmFilesFailure(reason: "the disk is full")
    }

    func exportUnsynced(
        realmAt path: String,
        to destination: String
    ) async throws(RealmFilesFailure) -> Int { 0 }
}

final class StartedUnits: UnitStarter {
    let names = Mutex<[String]>([])

    func startUnit(_ name: String) async throws(SystemBusFailure) {
        guard name != "missing.service" else {
            throw SystemBusFailure(reason: "Unit missing.service not found.")
        }
        names.withLock { $0.append(name) }
    }
}

struct NoWebhooks: WebhookSender {
    func post(_ call: WebhookCall) async throws(HandlerFailure) -> [UInt8] { [] }
}

/// Keeps messages as lines of level, text and fields.
final class RecordedLog: Sendable {
    private let storage = Mutex<[String]>([])

    var lines: [String] { storage.withLock { $0 } }

    var logger: Logger {
        Logger(label: "test") { _ in Handler(log: self) }
    }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).map { " \($0.key)=\($0.value)" }.sorted().joined()
            log.storage.withLock { $0.append("\(event.level) \(event.message)\(fields)") }
        }
    }
}
