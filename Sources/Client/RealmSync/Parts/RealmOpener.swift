import Changesets
import Glibc
import LocalRealm
import Logging
import SchemaFiles
import Schemas
import Scopes
package import SyncClient

/// Opens the file of a realm once its user is known.
package struct RealmOpener: Sendable {
    /// Distinguishes this machine's files from copies on others; empty if unknown.
    let machineID: String
    let time: SyncTime
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64
    let environment: RealmEnvironment
    let logs: RealmLogs

    package init(
        machineID: String,
        time: SyncTime,
        now: @escaping @Sendable () -> Int64,
        environment: RealmEnvironment = .process,
        logs: RealmLogs
    ) {
        self.machineID = machineID
        self.time = time
        self.now = now
        self.environment = environment
        self.logs = logs
    }

    /// The data of a fresh copy, which is not what the options say after a change of the kind of sync.
    struct FreshCopyKind {
        let scope: SyncScope
        /// The partition of a realm that the server has changed to flexible sync before; nil for others.
        var migratedPartition: Text?
    }

    enum Failure: Error {
        /// The user's id does not give the realm a scope.
        case scope(String)
        case directory(String)
        case realm(LocalRealmError)
    }

    /// Whether a file exists, which need not be a good one.
    func hasFile(_ options: RealmOptions) -> Bool {
        access(options.path, F_OK) == 0
    }

    /// Copies the seed if there is no realm file yet (features, O19).
    private func plantSeed(
        of options: RealmOptions,
        _ owner: RealmOwner,
        _ logger: Logger
    ) async throws(LocalRealmError) {
        guard let seed = options.seed, !hasFile(options) else { return }
        let copy = RealmCopy(.seed(owner), now: now())
        let report = try await copy.makeOnThread(from: seed, to: options.path)
        logger.notice(
            "realm file copied from its seed",
            metadata: ["seed": "\(seed)", "bytes": "\(report.sizeInBytes)"]
        )
    }

    func open(
        _ options: RealmOptions,
        appID: String,
        userID: String,
        freshCopy: FreshCopyKind? = nil,
        report: @escaping @Sendable (RealmClientEvent) -> Void
    ) async throws(Failure) -> RealmClient {
        let isFreshCopy = freshCopy != nil
        let scope =
            if let freshCopy { freshCopy.scope } else {
                try self.scope(of: options, userID: userID)
            }
        do throws(DataDirectory.Failure) {
            try DataDirectory.prepareRealmDirectory(of: options.path)
        } catch {
            throw .directory(error.description)
        }
        let schema = isFreshCopy ? nil : options.schema?.declaration
        var file = LocalRealmConfiguration(
            path: isFreshCopy ? RealmFile.freshPath(of: options.path) : options.path,
            owner: RealmOwner(appID: appID, userID: userID, scope: scope),
            machineID: machineID,
            schema: schema?.schema,
            options: options.schema?.declaration.options ?? [:],
            splitGap: options.capture.splitGap
        )
        file.isReadOnly = options.isReadOnly && !isFreshCopy
        file.learnedCounters = options.learnedCounters
        file.requiresLinkTargets = options.requiresLinkTargets
        file.remoteTriggers = isFreshCopy ? [] : options.triggersOnRemoteChanges
        var logs = logs
        logs[metadataKey: "realm"] = "\(options.name)"
        logs[metadataKey: "user_id"] = "\(userID)"
        if isFreshCopy { logs[metadataKey: "copy"] = "fresh" }
        do throws(LocalRealmError) {
            if !isFreshCopy { try await plantSeed(of: options, file.owner, logs.storage) }
            await OpeningGate.pass(time)
            return try await RealmClient.open(
                file,
                name: options.name,
                captureDelay: options.capture.delay,
                isFreshCopy: isFreshCopy,
                migratedPartition: freshCopy?.migratedPartition,
                time: time,
                now: now,
                environment: environment,
                logs: logs,
                report: report
            )
        } catch {
            throw .realm(error)
        }
    }

    private func scope(
        of options: RealmOptions,
        userID: String
    ) throws(Failure) -> SyncScope {
        let scope: SyncScope
        do throws(UnusableScope) {
            scope = try options.scope(userID)
        } catch {
            throw .scope(error.reason)
        }
        guard scope != .unsynced, options.isFlexible == (scope == .subscriptions) else {
            throw .scope("the realm's scope does not fit its options")
        }
        return scope
    }
}
