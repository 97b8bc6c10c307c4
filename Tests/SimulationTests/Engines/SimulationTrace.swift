import FoundationEssentials
import Logging
import Synchronization

/// The log of the engines of one seed, in virtual time: to examine a failing seed, run it alone
/// with `REALM_TRACE=1` and `REALM_SEED=n`.
struct SimulationTrace: LogHandler {
    /// The lines of a run, for a test that wants to compare them.
    final class Record: Sendable {
        private let kept = Mutex<[String]>([])

        var lines: [String] { kept.withLock { $0 } }

        fileprivate func add(_ line: String) { kept.withLock { $0.append(line) } }
    }

    let time: VirtualTime
    /// Differs in each run.
    let directory: String
    let record: Record?
    private static let isWanted = ProcessInfo.processInfo.environment["REALM_TRACE"] != nil
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    static func logger(_ time: VirtualTime, in directory: String, _ record: Record?) -> Logger {
        return Logger(label: "simulation") { _ -> any LogHandler in
            guard isWanted || record != nil else { return SwiftLogNoOpLogHandler() }
            return SimulationTrace(time: time, directory: directory, record: record)
        }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }
            .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            .joined(separator: " ").replacing(directory, with: "")
        let line = "\(time.now.inMilliseconds) ms: \(event.message) \(fields)"
        record?.add(line)
        if Self.isWanted { print(line) }
    }
}
