import FoundationEssentials
import Logging

/// What the engines of one seed log, in virtual time: to look at a seed that fails, run it alone with
/// `REALM_TRACE=1` and `REALM_SEED=n`.
struct SimulationTrace: LogHandler {
    let time: VirtualTime
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    static func logger(_ time: VirtualTime) -> Logger {
        let isWanted = ProcessInfo.processInfo.environment["REALM_TRACE"] != nil
        return Logger(label: "simulation") { _ -> any LogHandler in
            guard isWanted else { return SwiftLogNoOpLogHandler() }
            return SimulationTrace(time: time)
        }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }
            .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        print("\(time.now.inMilliseconds) ms: \(event.message) \(fields.joined(separator: " "))")
    }
}
