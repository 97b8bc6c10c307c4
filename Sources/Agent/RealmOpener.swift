import Config
import Glibc
import LocalRealm
import Logging
import Platform
import SchemaFiles
import SyncClient

/// Opens the file of a configured realm once its user is known.
struct RealmOpener: Sendable {
    let machineID: String
    let time: SyncTime
    let now: @Sendable () -> WallTime
    var surroundings = RealmSurroundings.process
    let logger: Logger

    enum Failure: Error {
        /// With this user's id it is no value of its type.
        case partition(String)
        /// Its subscriptions are declared, but this version syncs partitions only.
        case flexible
        case directory(String)
        case realm(LocalRealmError)
    }

    /// Whether there is a file to open, which need not be a good one.
    func hasFile(_ configuration: RealmConfiguration) -> Bool {
        access(configuration.path, F_OK) == 0
    }

    /// Where there is no file yet, the realm begins with a copy of its seed (features, O19).
    private func plantSeed(
        of configuration: RealmConfiguration,
        _ owner: RealmOwner,
        _ logger: Logger
    ) async throws(LocalRealmError) {
        guard let seed = configuration.seed, !hasFile(configuration) else { return }
        let copy = RealmCopy(.seed(owner), now: now().millisecondsSince1970)
        let report = try await copy.makeOnThread(from: seed, to: configuration.path)
        logger.notice(
            "the realm begins with its seed",
            metadata: ["seed": "\(seed)", "bytes": "\(report.sizeInBytes)"]
        )
    }

    func open(
        _ configuration: RealmConfiguration,
        userID: String,
        isFreshCopy: Bool = false,
        report: @escaping @Sendable (RealmNews) -> Void
    ) async throws(Failure) -> RealmClient {
        guard case .partition(let setting) = configuration.scope else { throw .flexible }
        let partition: String
        do throws(PartitionError) {
            partition = try setting.value(userID: userID).canonicalExtendedJSON
        } catch {
            throw .partition(error.description)
        }
        do throws(DataDirectory.Failure) {
            try DataDirectory.prepareRealmDirectory(of: configuration.path)
        } catch {
            throw .directory(error.description)
        }
        let file = LocalRealmConfiguration(
            path: isFreshCopy
                ? RealmFile.freshPath(of: configuration.path) : configuration.path,
            owner: RealmOwner(
                appID: configuration.user.app.appID,
                userID: userID,
                scope: .partition(partition)
            ),
            machineID: machineID,
            schema: isFreshCopy ? nil : configuration.schema?.schema,
            options: configuration.schema?.options ?? [:],
            splitGap: configuration.capture.splitGap
        )
        var logger = logger
        logger[metadataKey: "realm"] = "\(configuration.name)"
        logger[metadataKey: "user_id"] = "\(userID)"
        if isFreshCopy { logger[metadataKey: "copy"] = "fresh" }
        do throws(LocalRealmError) {
            if !isFreshCopy { try await plantSeed(of: configuration, file.owner, logger) }
            return try await RealmClient.open(
                file,
                name: configuration.name,
                partition: partition,
                captureDelay: configuration.capture.delay,
                isFreshCopy: isFreshCopy,
                time: time,
                now: { [now] in now().millisecondsSince1970 },
                surroundings: surroundings,
                logger: logger,
                report: report
            )
        } catch {
            throw .realm(error)
        }
    }
}
