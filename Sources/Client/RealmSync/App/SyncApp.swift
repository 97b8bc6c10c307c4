package import AppServices
import FoundationEssentials
import Glibc
public import Logging
import NIOSSL
import Outbound
import SyncProtocol
package import Transport

/// A backend app: the way to its servers, and what this machine remembers of its users and realms.
///
/// It belongs to one process at a time. Call ``close()`` when all its realms have ended.
public final class SyncApp: Sendable {
    let options: AppOptions
    package let client: AppClient
    package let exchange: AsyncHTTPExchange
    package let webSocket: WebSocketClient
    package let headers: [(name: String, value: String)]
    package let database: MetadataDatabase
    /// Where copies and discarded changes go that resets keep.
    let recoveredDirectory: String
    let machine: MachineDescription
    /// Of the program.
    let version: String
    let makeLogger: @Sendable (_ label: String) -> Logger
    /// Nil where the caller holds the lock of the directory.
    private let lock: HeldDirectoryLock?

    package init(
        _ options: AppOptions,
        access: ServerAccess,
        database: MetadataDatabase,
        recoveredDirectory: String,
        machine: MachineDescription,
        version: String,
        lock: HeldDirectoryLock? = nil,
        makeLogger: @escaping @Sendable (_ label: String) -> Logger
    ) throws {
        self.options = options
        self.lock = lock
        self.headers = access.headers
        self.database = database
        self.recoveredDirectory = recoveredDirectory
        self.machine = machine
        self.version = version
        self.makeLogger = makeLogger
        self.exchange = AsyncHTTPExchange(
            tls: access.tls,
            proxies: access.proxies,
            headers: access.headers
        )
        let (appID, baseURL) = (options.id, options.baseURL)
        self.client = AppClient(
            appID: appID,
            baseURL: baseURL,
            fixedLocation: options.location.map {
                Location.fixed(http: $0.http, webSocket: $0.webSocket, appID: appID)
            },
            device: DeviceDescription(
                platformVersion: machine.systemVersion,
                sdkVersion: version,
                architecture: machine.architecture,
                name: machine.name
            ),
            exchange: exchange,
            authorizationHeader: options.authorizationHeader,
            timeout: options.timeouts.request,
            recall: { [database] in
                try? await database.location(appID: appID, baseURL: baseURL)
            },
            onLocation: { [database] location in
                // Without it the next start derives an address, and asks if that is wrong.
                try? await database.keep(
                    location,
                    appID: appID,
                    baseURL: baseURL,
                    at: Self.secondsSince1970()
                )
            }
        )
        self.webSocket = try WebSocketClient(
            tls: access.tls,
            proxies: access.proxies,
            connectTimeout: options.timeouts.connect,
            maximumMessageSizeInBytes: Limits.client.messageSizeInBytes
        )
    }

    /// Opens what this machine remembers of the app, and creates it if it is missing.
    ///
    /// Proxies are those of the environment (`HTTPS_PROXY`, `NO_PROXY`).
    ///
    /// - Parameters:
    ///   - directory: for accounts with their tokens (readable by this user alone), and for what client
    ///     resets keep.
    ///   - makeLogger: makes the logger of one part, such as `Sync.Client.Session`.
    /// - Throws: if the directory or a certificate cannot be used, or another process uses the directory.
    public convenience init(
        _ options: AppOptions,
        directory: String,
        makeLogger: @escaping @Sendable (_ label: String) -> Logger = { Logger(label: $0) }
    ) throws {
        let files = DataDirectory(path: directory)
        try files.prepare()
        let machine = MachineDescription.current()
        let tls = ClientTLS(
            authorityFile: options.tls.authorityFile,
            verifiesServer: options.tls.verifiesServer
        )
        let product = "realm-sync (Linux \(machine.systemVersion))"
        try self.init(
            options,
            access: ServerAccess(
                headers: [(name: "User-Agent", value: product)] + options.headers,
                tls: tls.configuration(),
                proxies: .environment(ProxyEnvironment(ProcessInfo.processInfo.environment))
            ),
            database: MetadataDatabase(path: files.metadata),
            recoveredDirectory: files.recovered,
            machine: machine,
            version: "1",
            lock: HeldDirectoryLock(DirectoryLock(path: files.lock)),
            makeLogger: makeLogger
        )
    }

    /// Ends the connections for HTTP requests; nothing may be asked of the app after that.
    public func close() async {
        await exchange.shutdown()
        lock?.release()
    }

    static let secondsSince1970: @Sendable () -> Int64 = { millisecondsSince1970() / 1000 }

    static let millisecondsSince1970: @Sendable () -> Int64 = {
        Int64(Date.now.timeIntervalSince1970 * 1000)
    }
}
