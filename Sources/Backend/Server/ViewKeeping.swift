import Logging
import ServerAccounts
import ServerConfig
import ServerStore
import Synchronization

/// Keeps the typed views of the served apps as their classes are (server on PostgreSQL, 5).
final class ViewKeeping: Sendable {
    private struct State {
        /// The stamps that the views of each app were made from.
        var stamps: [AppID: String] = [:]
        /// The last failure of each app, logged once.
        var failures: [AppID: String] = [:]
    }

    private let views: any ObjectViews
    private let apps: AppDirectory
    private let backplane: any Backplane
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let state = Mutex(State())

    /// A new class has its view within this time.
    private static let interval = Duration.seconds(5)
    /// Below the interval, since processes do not look at the same moment.
    private static let jobInterval = Duration.seconds(4)

    init(
        _ views: any ObjectViews,
        of apps: AppDirectory,
        backplane: any Backplane,
        clock: any Clock<Duration>,
        logger: Logger
    ) {
        self.views = views
        self.apps = apps
        self.backplane = backplane
        self.clock = clock
        self.logger = logger
    }

    /// Until the task is cancelled.
    func run() async {
        repeat {
            await backplane.perform(.views, every: Self.jobInterval) { await self.refresh() }
        } while (try? await clock.sleep(for: Self.interval)) != nil
    }

    /// Looks at all apps once. An app whose views could not be made is tried again each time.
    func refresh() async {
        let schemas = apps.all.compactMap { app in
            app.configuration.viewSchema.map { (app: app.id, schema: $0) }
        }
        guard !schemas.isEmpty else { return }
        let stamps: [AppID: String]
        do {
            stamps = try await views.stamps()
        } catch {
            return logger.debug("views were not compared", metadata: ["error": "\(error)"])
        }
        for (app, schema) in schemas {
            guard let stamp = stamps[app].map({ "\(schema) \($0)" }),
                state.withLock({ $0.stamps[app] != stamp })
            else { continue }
            do {
                let isChanged = try await views.refresh(app, in: schema)
                state.withLock { state in
                    state.stamps[app] = stamp
                    state.failures[app] = nil
                }
                guard isChanged else { continue }
                logger.info("views made", metadata: ["app": "\(app)", "schema": "\(schema)"])
            } catch {
                report(error, app, schema)
            }
        }
    }

    private func report(_ error: any Error, _ app: AppID, _ schema: String) {
        let reason = "\(error)"
        let isNew = state.withLock { $0.failures.updateValue(reason, forKey: app) != reason }
        guard isNew else { return }
        let code = (error as? StoreError)?.code ?? "store.failed"
        logger.warning(
            "views could not be made",
            metadata: [
                "code": "\(code)", "app": "\(app)", "schema": "\(schema)", "reason": "\(reason)",
            ]
        )
    }
}
