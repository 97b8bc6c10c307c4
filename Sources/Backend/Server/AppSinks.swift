import AsymmetricSink
import Coordination
import Logging
import Programs
import ServerAccounts
import ServerConfig
import ServerStore
import SyncServer
import Synchronization

/// The sinks of the served apps: a spool for each, and the delivery to its program (flexible sync, 14).
///
/// A spool that was opened stays open, and is delivered, until the server ends.
final class AppSinks: Sendable {
    private struct Key: Hashable {
        let app: AppID
        let directory: String
    }

    /// A spool, and its present program: a reload may change it.
    private final class Sink: Sendable {
        let spool: Spool
        private let hook: Mutex<HookConfiguration>

        init(_ spool: Spool, _ hook: HookConfiguration) {
            self.spool = spool
            self.hook = Mutex(hook)
        }

        var program: Program {
            let hook = hook.withLock { $0 }
            return Program(
                command: hook.command,
                environment: hook.environment,
                timeout: hook.timeout
            )
        }

        func use(_ new: HookConfiguration) { hook.withLock { $0 = new } }
    }

    private let sinks = Mutex<[Key: Sink]>([:])
    private let opened: AsyncStream<Sink>
    private let opening: AsyncStream<Sink>.Continuation
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
        (self.opened, self.opening) = AsyncStream.makeStream()
    }

    /// Opens the spools of apps that have none yet, and takes over changed programs.
    func use(_ apps: [ServedAppConfiguration]) throws(SpoolError) {
        for app in apps {
            guard let configuration = app.flexible?.sink else { continue }
            _ = try spool(of: app.id, configuration)
            let key = Key(app: app.id, directory: configuration.spool)
            sinks.withLock { $0[key] }?.use(configuration.hook)
        }
    }

    /// Opens it if it is not open.
    fileprivate func spool(
        of app: AppID,
        _ configuration: AsymmetricSinkConfiguration
    ) throws(SpoolError) -> Spool {
        let key = Key(app: app, directory: configuration.spool)
        let result = sinks.withLock { sinks -> Result<Spool, SpoolError> in
            if let known = sinks[key] { return .success(known.spool) }
            do throws(SpoolError) {
                let limits = Spool.Limits(sizeInBytes: configuration.spoolSizeInBytes)
                let sink = Sink(
                    try Spool(configuration.spool, limits: limits),
                    configuration.hook
                )
                sinks[key] = sink
                opening.yield(sink)
                return .success(sink.spool)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The sink of an app; nil if its store keeps the objects.
    func sink(of app: ServedApp) -> (any ObjectSink)? {
        app.configuration.flexible?.sink.map {
            SpoolSink(app: app.id, configuration: $0, sinks: self)
        }
    }

    /// Delivers until the task is cancelled. Called once.
    func run(_ clock: any Clock<Duration>) async {
        await withDiscardingTaskGroup { group in
            for await sink in opened {
                group.addTask { [logger] in await Self.deliver(sink, clock, logger) }
            }
            group.cancelAll()
        }
    }

    private static func deliver(
        _ sink: Sink,
        _ clock: some Clock<Duration>,
        _ logger: Logger
    ) async {
        let delivery = SinkDelivery(sink.spool, clock: clock, logger: logger) {
            lines throws(ProgramFailure) in
            _ = try await sink.program.output(input: lines)
        }
        await delivery.run()
    }
}

/// Appends objects to the spool of an app.
private struct SpoolSink: ObjectSink {
    let app: AppID
    let configuration: AsymmetricSinkConfiguration
    let sinks: AppSinks

    func take(_ objects: [IngestedObject]) async throws(SinkFailure) {
        let lines = objects.map {
            SinkLine.object(of: $0.className, by: $0.user.rawValue, $0.document)
        }
        do throws(SpoolError) {
            try await BlockingCall.run(label: "spool") { () throws(SpoolError) in
                try sinks.spool(of: app, configuration).append(lines)
            }
        } catch {
            let kind: SinkFailure.Kind = error.kind == .full ? .full : .unusable
            throw SinkFailure(kind, code: error.code, "\(error)")
        }
    }
}
