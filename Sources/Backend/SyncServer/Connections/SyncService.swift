package import Logging
package import ServerMetrics
package import ServerStore
package import Surroundings
package import SyncProtocol
package import Transport

/// Serves sync connections over any transport, until each ends (wire protocol).
package final class SyncService: Sendable {
    package let engine: SyncEngine
    let apps: any SyncApps
    package let backplane: any Backplane
    let registry = SessionRegistry()
    package let correctedUploads = CorrectedUploads()
    let uploads = UploadBacklog()
    let downloads: DownloadSource
    let meter: ServerMeter
    let comparisons: Comparisons
    let clock: WallClock
    let random: RandomSource
    package let timing: ServerTiming
    let limits: Limits
    let logger: Logger

    /// `timing` sets how long connections may be silent; tests shorten it or supply a clock.
    package init(
        apps: any SyncApps,
        backplane: any Backplane = InProcessBackplane(),
        engine: SyncEngine,
        clock: WallClock,
        random: RandomSource,
        timing: ServerTiming = ServerTiming(),
        limits: Limits = .server,
        meter: ServerMeter = ServerMeter(),
        comparisons: ComparisonLimits = ComparisonLimits(),
        logger: Logger
    ) {
        self.comparisons = Comparisons(limits: comparisons)
        self.apps = apps
        self.backplane = backplane
        self.engine = engine
        self.clock = clock
        self.random = random
        self.timing = timing
        self.limits = limits
        self.meter = meter
        self.logger = logger
        self.downloads = DownloadSource(engine: engine, registry: registry, meter: meter)
        backplane.join(registry)
    }

    deinit {
        backplane.leave(registry)
    }

    /// Checks the deadlines of all connections, until the task is cancelled. One clock for each
    /// would cost memory.
    package func keepTime() async {
        while (try? await timing.clock.sleep(for: timing.tick)) != nil {
            for connection in registry.connections { await connection.checkDeadlines() }
        }
    }

    /// Compares growth with the views of sessions, until the task is cancelled. Without it every session
    /// of a file scans for itself.
    package func keepFanningOut() async {
        await registry.fanout.run { [engine, apps] file, start in
            try await engine.views.growth(of: file, after: start) { apps.syncApp($0)?.flexible }
        } telling: { [registry] file, client, version in
            registry.tell(file, only: client, about: version)
        } reviewing: { [registry] file, users in
            registry.review(users, in: file)
        }
    }

    /// Trims history periodically, until the task is cancelled (sync history, 16).
    package func keepTrimming() async {
        while (try? await timing.clock.sleep(for: .seconds(3600))) != nil {
            await backplane.perform(.trimming, every: Self.jobInterval, meter) {
                for app in self.apps.syncApps { await self.trim(app) }
            }
        }
    }

    /// Below the hour between two attempts of a process, which are not exactly an hour apart.
    private static let jobInterval = Duration.seconds(3300)

    private func trim(_ app: SyncApp) async {
        guard let limit = app.offlineLimitInMilliseconds, await backplane.mayTrim(app.id) else {
            return
        }
        do {
            try await engine.upkeep.trim(
                app.id,
                offlineLimitInMilliseconds: limit,
                connected: registry.members
            )
        } catch {
            logger.error(
                "history could not be trimmed",
                metadata: ["app": "\(app.id)", "error": "\(error)"]
            )
        }
    }

    /// Removes unused files every hour, until the task is cancelled.
    package func keepSweeping() async {
        while (try? await timing.clock.sleep(for: .seconds(3600))) != nil {
            await backplane.perform(.sweeping, every: Self.jobInterval, meter) {
                for app in self.apps.syncApps where await self.backplane.mayTrim(app.id) {
                    await self.sweep(app)
                }
            }
        }
    }

    /// Removes what terminations of sync left, until the task is cancelled.
    package func keepRemovingRemains() async {
        while (try? await timing.clock.sleep(for: .seconds(300))) != nil {
            await backplane.perform(.remains, every: .seconds(275), meter) {
                for app in self.apps.syncApps { await self.removeRemains(of: app) }
            }
        }
    }

    private func removeRemains(of app: SyncApp) async {
        do {
            try await engine.upkeep.removeRemains(of: app.id)
        } catch {
            logger.error(
                "the remains of a terminated sync could not be removed",
                metadata: ["app": "\(app.id)", "error": "\(error)"]
            )
        }
    }

    func sweep(_ app: SyncApp) async {
        do {
            try await engine.upkeep.sweep(
                app.id,
                offlineLimitInMilliseconds: app.offlineLimitInMilliseconds,
                connected: Set(registry.members.map(\.file))
            )
        } catch {
            logger.error(
                "unused realms could not be removed",
                metadata: ["app": "\(app.id)", "error": "\(error)"]
            )
        }
    }

    /// Serves one connection until it ends; the caller then releases the stream.
    package func serve(
        _ stream: any MessageStream,
        of user: ConnectedUser,
        _ subProtocol: SubProtocol
    ) async {
        guard let connection = connect(stream, of: user, subProtocol) else {
            return await stream.close(.internalError, reason: "app not found")
        }
        await withTaskCancellationHandler {
            await connection.run()
        } onCancel: {
            connection.cancel()
        }
        registry.remove(connection)
    }

    /// Ends all connections, also those to come: the server stops, and clients reconnect automatically.
    package func stop() {
        for connection in registry.stop() { connection.ask(to: .stop) }
    }

    /// Whether the user's log-in session is still valid. It may have ended between the upgrade and the
    /// registration of the connection.
    func isLive(_ user: ConnectedUser) async -> Bool {
        guard let session = user.session else { return true }
        do {
            return try await engine.isLive(session, of: user)
        } catch {
            // The connection's own work reports the failure of the store.
            return true
        }
    }

    /// Separate from ``serve(_:of:_:)``, in which every idle connection waits: its locals would
    /// stay in memory.
    @inline(never)
    private func connect(
        _ stream: any MessageStream,
        of user: ConnectedUser,
        _ subProtocol: SubProtocol
    ) -> SyncConnection? {
        guard let app = apps.syncApp(user.app) else { return nil }
        let connection = SyncConnection(stream, of: user, app, subProtocol, in: self)
        if !registry.add(connection) { connection.ask(to: .stop) }
        // A pause or termination since the upgrade did not reach this connection.
        if apps.syncApp(user.app)?.syncState != .enabled { connection.ask(to: .obey(.pause)) }
        return connection
    }
}
