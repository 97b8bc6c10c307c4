import Logging
import ScriptedPeers
import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Transport

@testable import SyncClient

@Suite("Lines that the server writes for our log", .timeLimit(.minutes(10)))
struct ServerLogTests {
    /// Keeps level, message and text of each line.
    private struct Handler: LogHandler {
        let lines: @Sendable (String) -> Void
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        init(_ lines: @escaping @Sendable (String) -> Void) {
            self.lines = lines
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }
                .map { " \($0.key)=\($0.value)" }
            lines("\(event.level) \(event.message)\(fields.joined())")
        }
    }

    @Test("They keep their text and the id of the request, at most at the level warning")
    func levels() {
        let lines = Mutex<[String]>([])
        let logger = Logger(label: "test") { _ in
            Handler { line in lines.withLock { $0.append(line) } }
        }
        for level in [LogMessageBody.Level.fatal, .error, .warn, .info, .detail, .debug, .trace] {
            logger.log(LogMessageBody(connectionID: "c1", level: level, message: "hello"))
        }
        logger.log(LogMessageBody(level: .info, message: "no id"))
        let field = "server_connection=c1 text=hello"
        #expect(
            lines.withLock { $0 } == [
                "warning server \(field)", "warning server \(field)", "warning server \(field)",
                "info server \(field)", "info server \(field)", "debug server \(field)",
                "trace server \(field)", "info server text=no id",
            ]
        )
    }

    @Test("A LOG_MESSAGE of the connection, and one of a session, reach the log")
    func carried() async throws {
        let endpoint = ScriptedEndpoint { server in
            let session = try await server.open(RealmOnConnection.file)
            let words = LogMessageBody(level: .warn, message: "of the connection")
            try await server.send(.logMessage(nil, words))
            let more = LogMessageBody(level: .warn, message: "of the session")
            try await server.send(.logMessage(session, more))
            try await server.listen()
        }
        let lines = Mutex<[String]>([])
        let logger = Logger(label: "test") { _ in
            Handler { line in lines.withLock { $0.append(line) } }
        }
        try await RealmOnConnection.with(endpoint, logger: logger) { _, _, _ in
            try await until {
                lines.withLock({ $0.count(where: { $0.hasPrefix("warning server") }) }) >= 2
            }
        }
        let server = lines.withLock { $0.filter { $0.hasPrefix("warning server") } }
        #expect(
            server == [
                "warning server text=of the connection", "warning server text=of the session",
            ]
        )
    }
}
