package import Logging
import Synchronization

/// Keeps what is logged, as a message and its fields.
package final class LogRecorder: Sendable {
    package struct Record {
        package let message: String
        package let fields: [String: String]
    }

    private let kept = Mutex<[Record]>([])

    package init() {}

    package var records: [Record] { kept.withLock { $0 } }

    package var logger: Logger {
        Logger(label: "test") { [self] _ in Handler(recorder: self) }
    }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = metadata.merging(event.metadata ?? [:]) { $1 }
            let record = Record(
                message: "\(event.message)",
                fields: fields.mapValues { "\($0)" }
            )
            recorder.kept.withLock { $0.append(record) }
        }
    }
}
