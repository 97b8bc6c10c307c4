package import AppServices
import FoundationEssentials
import Glibc
public import Logging
import NIOSSL
import Outbound
import SyncProtocol
package import Transport

/// A backend app: access to its servers, and this machine's records of its users and realms.
///
/// One process at a time can use the records. Call ``close()`` once all realms have ended.
public final class SyncApp: Sendable {
    let options: AppOptions
    package let client: AppClient
    package let exchange: AsyncHTTPExchange
    package let webSocket: WebSocketClient
    package let headers: [(name: String, value: String)]
    package let database: MetadataDatabase
    /// Directory for the copies and discarded changes that resets keep.
    let recoveredDirectory: String
    let machine: MachineDescription
    /// The version of the program.
    let version: String
    let makeLogger: @Sendable (_ label: String) -> Logger
    /// Nil if the caller holds the lock of the directory.
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
                // Without the record the next start derives an address, and asks if that is wrong.
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

    /// Opens the app's records, and creates them if they are missing.
    ///
    /// Proxies come from the environment (`HTTPS_PROXY`, `NO_PROXY`).
    ///
    /// - Parameters:
    ///   - directory: holds accounts with their tokens, readable by this user alone, and the files that
    ///     client resets keep. Created if it is missing.
    ///   - makeLogger: returns the logger of one part, such as `Sync.Client.Session`.
    /// - Throws: an error that describes itself, if the directory or a certificate is not usable, or
    ///   another process uses the directory.
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
            verifiesServer: options.tls.verifiesServer,
            isCertain: options.isEncrypted
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

    /// Closes the HTTP connections and the records, and releases the directory. The app, its users and its realms
    /// must not be used afterwards.
    public func close() async {
        await exchange.shutdown()
        // Without a lock the records belong to the caller.
        guard let lock else { return }
        await database.close()
        lock.release()
    }

    static let secondsSince1970: @Sendable () -> Int64 = { millisecondsSince1970() / 1000 }

    static let millisecondsSince1970: @Sendable () -> Int64 = {
        Int64(Date.now.timeIntervalSince1970 * 1000)
    }
}
