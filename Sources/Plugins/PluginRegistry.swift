package import Config
import Logging
package import Scheduling

/// The handlers that the configuration declares, and a record of how each has done.
package actor PluginRegistry {
    private var configurations: [PluginConfiguration]
    private var handlers: [String: any RealmHandler]
    private var records: [String: PluginRecord]
    private let environment: HandlerEnvironment
    private let onFailure: @Sendable (PluginFailure) -> Void

    /// `onFailure` is called for every handler that failed, in addition to the log.
    package init(
        _ configurations: [PluginConfiguration],
        environment: HandlerEnvironment,
        onFailure: @escaping @Sendable (PluginFailure) -> Void = { _ in }
    ) {
        self.configurations = configurations
        self.handlers = Dictionary(
            configurations.map { ($0.name, $0.kind.handler(in: environment)) }
        ) { $1 }
        self.records = Dictionary(
            configurations.map { ($0.name, PluginRecord(name: $0.name, use: $0.kind.word)) }
        ) { $1 }
        self.environment = environment
        self.onFailure = onFailure
    }

    /// The present records, in the order of the configuration.
    package func report() -> [PluginRecord] {
        configurations.compactMap { records[$0.name] }
    }

    /// Adopts the handlers of another configuration. Unchanged handlers keep their state and
    /// records.
    package func follow(_ new: [PluginConfiguration]) {
        for plugin in configurations where !new.contains(plugin) {
            handlers[plugin.name] = nil
            records[plugin.name] = nil
        }
        for plugin in new where !configurations.contains(plugin) {
            handlers[plugin.name] = plugin.kind.handler(in: environment)
            records[plugin.name] = PluginRecord(name: plugin.name, use: plugin.kind.word)
        }
        configurations = new
    }

    /// Asks the named handlers in order. The first decision other than `continue` counts; the
    /// others still see the event.
    package func consult(
        _ names: [String],
        _ request: HandlerRequest
    ) async -> HandlerVerdict {
        var verdict = HandlerVerdict.continue
        for name in names {
            guard let handler = handlers[name] else { continue }
            do throws(HandlerFailure) {
                let reply = try await handler.handle(request)
                record(name, reply, request)
                if verdict.decision == .continue, reply.decision != .continue {
                    verdict.decision = reply.decision
                    verdict.plugin = name
                    verdict.note = reply.note
                }
            } catch {
                record(name, error, request)
                verdict.failures.append("\(name): \(error)")
            }
        }
        return verdict
    }

    private func record(_ name: String, _ reply: HandlerReply, _ request: HandlerRequest) {
        records[name]?.calls += 1
        var fields: Logger.Metadata = [
            "plugin": "\(name)", "realm": "\(request.subject.realm)",
            "kind": "\(request.event.kind)", "decision": "\(reply.decision.word)",
        ]
        reply.note.map { fields["note"] = "\($0)" }
        // A decision changes the agent's behaviour; observing an event does not.
        let level: Logger.Level = reply.decision == .continue ? .debug : .notice
        environment.logger.log(level: level, "handler answered", metadata: fields)
    }

    private func record(_ name: String, _ error: HandlerFailure, _ request: HandlerRequest) {
        guard !error.isCancellation else { return }
        let failure = PluginFailure(
            plugin: name,
            realm: request.subject.realm,
            kind: request.event.kind,
            at: environment.now(),
            code: error.code,
            message: error.description
        )
        records[name]?.calls += 1
        records[name]?.failures += 1
        records[name]?.lastFailure = failure
        environment.logger.warning(
            "handler failed; sync continues without it",
            metadata: [
                "plugin": "\(name)", "realm": "\(failure.realm)",
                "kind": "\(request.event.kind)", "code": "\(failure.code)",
                "reason": "\(failure.message)",
            ]
        )
        onFailure(failure)
    }
}

/// The joint result of all handlers of an event.
package struct HandlerVerdict: Hashable, Sendable {
    package fileprivate(set) var decision: HandlerDecision
    /// The handler that decided; nil if none did.
    package fileprivate(set) var plugin: String?
    package fileprivate(set) var note: String?
    /// The handlers that failed, each with the reason.
    package fileprivate(set) var failures: [String] = []

    package init(decision: HandlerDecision, plugin: String?, note: String? = nil) {
        self.decision = decision
        self.plugin = plugin
        self.note = note
    }

    package static let `continue` = HandlerVerdict(decision: .continue, plugin: nil)
}

/// A handler's record since the agent started.
package struct PluginRecord: Hashable, Sendable {
    package let name: String
    /// The value of `use`.
    package let use: String
    package fileprivate(set) var calls = 0
    package fileprivate(set) var failures = 0
    package fileprivate(set) var lastFailure: PluginFailure?
}

/// One failure of a handler.
package struct PluginFailure: Hashable, Sendable {
    package let plugin: String
    package let realm: String
    /// The kind of the event that it was asked about.
    package let kind: String
    package let at: WallTime
    package let code: String
    package let message: String
}

extension PluginConfiguration.Kind {
    /// The value of `use`.
    package var word: String {
        switch self {
        case .log: "log"
        case .exec: "exec"
        case .webhook: "webhook"
        case .backupRealm: "backup-realm"
        case .exportUnsynced: "export-unsynced"
        case .suspend: "suspend"
        case .relogin: "relogin"
        case .notifySystemd: "notify-systemd"
        }
    }

    fileprivate func handler(in environment: HandlerEnvironment) -> any RealmHandler {
        switch self {
        case .log(let level):
            LogHandler(level: level, logger: environment.logger)
        case .exec(let options):
            ExecHandler(options)
        case .webhook(let options):
            WebhookHandler(
                configuration: options,
                readSecret: environment.readSecret,
                sender: environment.webhooks
            )
        case .backupRealm(let directory, let keep):
            BackupHandler(
                directory: directory,
                keep: keep,
                files: environment.files,
                now: environment.now
            )
        case .exportUnsynced(let directory):
            ExportHandler(
                directory: directory,
                files: environment.files,
                now: environment.now
            )
        case .suspend(let duration):
            SuspendHandler(duration: duration, now: environment.now)
        case .relogin(let allowance):
            ReloginHandler(allowance, now: environment.now)
        case .notifySystemd(let unit):
            UnitHandler(unit: unit, starter: environment.units)
        }
    }
}
