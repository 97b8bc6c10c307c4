import Glibc
import ServerConfig
import ServerHTTP
import ServerMetrics
import ServerStore
import Surroundings
import SyncServer

/// Reads the gauges for each scrape. What costs the store a read is kept for a minute.
actor GaugeReader {
    private let version: String
    private let sync: SyncService
    private let store: any Store
    private let calls: StoreCalls
    private let storage: StorageLocation
    private let apps: @Sendable () -> [AppID]
    private let tls: ServerTLS?
    private let clock: WallClock
    private let obstacles: @Sendable () -> [String]
    private var stored: (apps: [AppID: ServerGauges.StoredApp], at: ContinuousClock.Instant)?

    private static let lifetime = Duration.seconds(60)

    init(
        version: String,
        sync: SyncService,
        store: any Store,
        calls: StoreCalls,
        storage: StorageLocation,
        apps: @escaping @Sendable () -> [AppID],
        tls: ServerTLS?,
        clock: WallClock,
        obstacles: @escaping @Sendable () -> [String]
    ) {
        self.version = version
        self.sync = sync
        self.store = store
        self.calls = calls
        self.storage = storage
        self.apps = apps
        self.tls = tls
        self.clock = clock
        self.obstacles = obstacles
    }

    func read() async -> ServerGauges {
        var gauges = ServerGauges()
        gauges.version = version
        await sync.measure(into: &gauges)
        gauges.storeCallsUnderWay = calls.underWay
        gauges.storedApps = await storedApps()
        if case .sqlite(let path) = storage { gauges.disk = ServerGauges.Disk(ofStore: path) }
        gauges.obstacles = obstacles()
        gauges.certificateExpiry = tls?.expiry
        gauges.time = Double(clock.millisecondsSince1970()) / 1000
        gauges.process = ProcessUsage.current()
        return gauges
    }

    /// As of the last time that the store could be read.
    private func storedApps() async -> [AppID: ServerGauges.StoredApp] {
        if let stored, stored.at.duration(to: .now) < Self.lifetime { return stored.apps }
        // Also if the read fails: scrapes must not wait for a store that is away again and again.
        stored = (stored?.apps ?? [:], .now)
        let ids = apps()
        let found = try? await store.read { snapshot in
            try ids.reduce(into: [AppID: ServerGauges.StoredApp]()) { apps, id in
                var app = ServerGauges.StoredApp()
                for file in try snapshot.files(of: id) {
                    app.realms += 1
                    app.historyBytes &+= file.historySizeInBytes
                }
                apps[id] = app
            }
        }
        if let found { stored = (found, .now) }
        return stored?.apps ?? [:]
    }
}

extension ServerGauges.Disk {
    /// Nil if the file or its file system cannot be examined.
    fileprivate init?(ofStore path: String) {
        var system = statvfs()
        guard statvfs(path, &system) == 0, let database = Self.size(of: path) else { return nil }
        let block = UInt64(system.f_frsize)
        self.init(
            databaseBytes: database,
            logBytes: Self.size(of: "\(path)-wal") ?? 0,
            freeBytes: UInt64(system.f_bavail).multipliedReportingOverflow(by: block).partialValue,
            sizeInBytes: UInt64(system.f_blocks).multipliedReportingOverflow(by: block)
                .partialValue
        )
    }

    private static func size(of path: String) -> UInt64? {
        var file = stat()
        guard stat(path, &file) == 0 else { return nil }
        return UInt64(clamping: file.st_size)
    }
}
