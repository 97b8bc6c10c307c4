package import Logging

/// Hands log messages to a sink if the settings let their category and level pass.
package struct AgentLogHandler: LogHandler {
    private let category: String
    private let settings: LogSettings
    private let sink: any LogSink

    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    package init(category: String, settings: LogSettings, sink: any LogSink) {
        self.category = category
        self.settings = settings
        self.sink = sink
    }

    /// The level that the settings allow, or lower if a written line may have to be taken back.
    /// Setting it is ignored: levels belong to the configuration.
    package var logLevel: Logger.Level {
        get {
            let threshold = settings.threshold(of: category) ?? .critical
            return sink.owesRecovery ? min(threshold, .info) : threshold
        }
        set {}
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        guard let threshold = settings.threshold(of: category) else { return }
        let isBelowLevel = event.level < threshold
        guard !isBelowLevel || sink.owesRecovery else { return }
        var fields = metadata
        fields.merge(metadataProvider?.get() ?? [:]) { $1 }
        fields.merge(event.metadata ?? [:]) { $1 }
        if !settings.showsValues { for name in Self.namesOfValues { fields[name] = nil } }
        if event.level >= .warning, let remedy = Self.remedy(fields) {
            fields["remedy"] = "\(remedy)"
        }
        let sorted = fields.map { (name: $0.key, value: "\($0.value)") }.sorted {
            $0.name < $1.name
        }
        sink.write(
            LogRecord(
                level: event.level,
                category: category,
                message: "\(event.message)",
                fields: sorted,
                isBelowLevel: isBelowLevel
            )
        )
    }

    /// Fields with keys or values of users' objects.
    private static let namesOfValues = ["key", "content"]

    /// The remedy for the code of the message; nil if it has none.
    private static func remedy(_ fields: Logger.Metadata) -> String? {
        guard let code = fields["code"] else { return nil }
        return ErrorCatalogue.remedy(
            for: "\(code)",
            realm: fields["realm"].map { "\($0)" },
            user: fields["user"].map { "\($0)" }
        )
    }
}

/// One log message to write.
package struct LogRecord: Sendable {
    package let level: Logger.Level
    package let category: String
    /// Constant text; what varies is in the fields.
    package let message: String
    package let fields: [(name: String, value: String)]
    /// Below the configured level: only written if it takes back a line that was written.
    package let isBelowLevel: Bool

    package init(
        level: Logger.Level,
        category: String,
        message: String,
        fields: [(name: String, value: String)],
        isBelowLevel: Bool = false
    ) {
        self.level = level
        self.category = category
        self.message = message
        self.fields = fields
        self.isBelowLevel = isBelowLevel
    }
}

/// A destination of log records.
package protocol LogSink: Sendable {
    /// Whether it wants records below the configured level, too: one of them may take back a line.
    var owesRecovery: Bool { get }

    func write(_ record: LogRecord)
}

extension LogSink {
    package var owesRecovery: Bool { false }
}
