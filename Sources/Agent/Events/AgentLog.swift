package import Config
import Control
import FoundationEssentials
package import Logging
package import Platform
import SyncClient

/// The agent's log, as configured.
package struct AgentLog: Sendable {
    private let settings: LogSettings
    private let sink: RepetitionFilter

    /// `atLeast` keeps one-shot commands quiet, even if the daemon's configured level is lower.
    package init(_ configuration: LogConfiguration, atLeast minimum: LogLevel? = nil) {
        self.settings = LogSettings(
            level: minimum ?? LogLevel(configuration.level),
            categories: minimum == nil ? configuration.categories.mapValues(LogLevel.init) : [:],
            showsValues: configuration.showsValues
        )
        let output: LogOutput =
            switch configuration.output {
            case .journald: .journald
            case .stderr: .stderr
            case nil: .detected(environment: ProcessInfo.processInfo.environment)
            }
        self.sink = RepetitionFilter(
            output.sink(identifier: "realm-agent"),
            uptime: SyncTime.continuous.uptime
        )
    }

    /// Writes lines that wait for the end of a minute, until the task is cancelled; then all of them.
    func run() async {
        await sink.run(sleep: SyncTime.continuous.sleep)
    }

    package func logger(_ category: String) -> Logger {
        let (settings, sink) = (settings, sink)
        return Logger(label: category) { category in
            AgentLogHandler(category: category, settings: settings, sink: sink)
        }
    }
}

extension AgentLog {
    /// The levels in force.
    var report: LogReport {
        let current = settings.current
        return LogReport(
            level: current.level.rawValue,
            categories: current.categories.mapValues(\.rawValue)
        )
    }

    /// Adopts the levels of another configuration.
    func follow(_ configuration: LogConfiguration) {
        settings.set(
            level: LogLevel(configuration.level),
            categories: configuration.categories.mapValues(LogLevel.init),
            showsValues: configuration.showsValues
        )
    }

    /// Changes a category's level, or that of everything without one of its own.
    func set(_ level: LogLevel, of category: String?) {
        settings.set(level, of: category)
    }
}

extension LogLevel {
    init(_ level: LogConfiguration.Level) {
        self =
            switch level {
            case .off: .off
            case .fatal: .fatal
            case .error: .error
            case .warn: .warn
            case .info: .info
            case .detail: .detail
            case .debug: .debug
            case .trace: .trace
            case .all: .all
            }
    }
}
