import Coordination
import Logging
import ServerAccounts
package import ServerConfig
package import ServerHTTP
import ServerStore
package import Settings
import SyncServer

/// Applies a changed configuration to the running server. It reads and checks everything first, so
/// that a bad file changes nothing.
package actor ConfigurationReload {
    /// The present configuration; nil with at least one error among the diagnostics.
    package typealias Reading = (configuration: ServerConfiguration?, diagnostics: [Diagnostic])

    /// The running server's configuration; settings that need a restart keep their old values.
    private var running: ServerConfiguration
    private let read: @Sendable () -> Reading
    private let accounts: Accounts
    private let sync: SyncService
    private let sinks: AppSinks
    private let gates: AppGates
    private let publicAddress: PublicAddress
    private let proxies: TrustedProxies
    private let tls: ServerTLS?
    private let setLogLevel: @Sendable (ServerLogConfiguration.Level) -> Void
    private let logger: Logger

    /// Runs reloads one after the other: each compares with the result of the one before.
    private let turns = Turns<OrderOfArrival>()

    init(
        of running: ServerConfiguration,
        accounts: Accounts,
        sync: SyncService,
        sinks: AppSinks,
        gates: AppGates,
        publicAddress: PublicAddress,
        proxies: TrustedProxies,
        tls: ServerTLS?,
        setLogLevel: @escaping @Sendable (ServerLogConfiguration.Level) -> Void,
        logger: Logger,
        read: @escaping @Sendable () -> Reading
    ) {
        self.running = running
        self.accounts = accounts
        self.sync = sync
        self.sinks = sinks
        self.gates = gates
        self.publicAddress = publicAddress
        self.proxies = proxies
        self.tls = tls
        self.setLogLevel = setLogLevel
        self.logger = logger
        self.read = read
    }

    /// Reads, checks, compares and swaps. Throws `ReloadRefused` or `StoreError`.
    package func run() async throws -> ServerReloadReport {
        try await turns.take { try await reloadAndReport() }
    }

    private func reloadAndReport() async throws -> ServerReloadReport {
        do {
            let report = try await reload()
            logger.notice(
                "server configuration reloaded",
                metadata: [
                    "applied": "\(report.applied.joined(separator: ", "))",
                    "needs_restart": "\(report.needsRestart.joined(separator: ", "))",
                ]
            )
            for warning in report.warnings { logger.warning("\(warning)") }
            return report
        } catch {
            logger.error(
                "server configuration not reloaded",
                metadata: [
                    "code": "\((error as? any CodedError)?.code ?? "server.reload")",
                    "reason": "\(error)",
                ]
            )
            throw error
        }
    }

    private func reload() async throws -> ServerReloadReport {
        let (configuration, diagnostics) = read()
        guard let configuration else { throw ReloadRefused(diagnostics: diagnostics, reason: nil) }
        let prepared: [PreparedApp]
        let certificate: ServerTLS.Prepared?
        do {
            prepared = try await prepare(configuration.apps)
            certificate = try tls.flatMap { _ in
                try configuration.tls.map { try ServerTLS.prepare($0) }
            }
            try sinks.use(configuration.apps)
        } catch let error as StoreError {
            throw error
        } catch {
            throw ReloadRefused(diagnostics: diagnostics, reason: "\(error)")
        }
        // Nothing below can fail.
        gates.forget()
        var applied = takeOver(configuration, certificate)
        applied += await takeOver(prepared)
        let needsRestart = configuration.settingsThatNeedRestart(insteadOf: running)
        running = configuration.keepingFixedSettings(of: running)
        return ServerReloadReport(
            applied: applied,
            needsRestart: needsRestart,
            warnings: diagnostics.map(\.description)
        )
    }

    /// Prepares the apps, also those of the store that the file no longer overrides.
    private func prepare(_ apps: [ServedAppConfiguration]) async throws -> [PreparedApp] {
        var prepared: [PreparedApp] = []
        for app in apps { prepared.append(try await accounts.prepare(app, declaration: nil)) }
        let named = Set(apps.map(\.id))
        for record in try await accounts.store.read({ try $0.apps() }) {
            guard let declaration = record.declaration, !named.contains(record.id),
                accounts.apps[record.id]?.isFromFile == true
            else { continue }
            let app = try ServedAppConfiguration(id: record.id, declaration: declaration)
            prepared.append(try await accounts.prepare(app, declaration: declaration))
        }
        return prepared
    }

    // MARK: Swapping

    private func takeOver(
        _ configuration: ServerConfiguration,
        _ certificate: ServerTLS.Prepared?
    ) -> [String] {
        var applied: [String] = []
        if let certificate, tls?.use(certificate) == true { applied.append("tls") }
        if configuration.publicURL != running.publicURL {
            publicAddress.url = configuration.publicURL
            applied.append("public_url")
        }
        if configuration.trustedProxies != running.trustedProxies {
            proxies.all = configuration.trustedProxies
            applied.append("trusted_proxies")
        }
        if configuration.log.level != running.log.level {
            setLogLevel(configuration.log.level)
            applied.append("log.level")
        }
        return applied.map { "server.\($0)" }
    }

    private func takeOver(_ prepared: [PreparedApp]) async -> [String] {
        var applied: [String] = []
        for app in prepared {
            let id = app.served.id
            let old = accounts.apps[id]
            await accounts.serve(app)
            guard let old else {
                applied.append("apps.\(id) (new)")
                continue
            }
            guard let change = ServedApp.Change(from: old, to: app.served) else { continue }
            applied.append("apps.\(id)")
            // Existing sessions bind again, under the new settings.
            if change == .sync { sync.backplane.control(.app(id), .rebind) }
        }
        let served = Set(prepared.map(\.served.id))
        for app in accounts.apps.all where app.isFromFile && !served.contains(app.id) {
            accounts.apps.remove(app.id)
            sync.backplane.control(.app(app.id), .pause)
            await accounts.forgetKeys(of: app.id)
            applied.append("apps.\(app.id) (no longer served)")
        }
        return applied
    }
}
