import Changesets
import JSON
package import Logging
import Permissions
import Query
import Schemas
import Scopes
package import ServerMetrics
package import ServerStore
package import Surroundings
import SyncProtocol
import Versions

/// The store operations of sync sessions; each call is one transaction (sync history, 18.1).
package struct SyncEngine: Sendable {
    let store: any Store
    private let clock: WallClock
    private let random: RandomSource
    let downloadLimitInBytes: Int
    private let snapshots: SnapshotPolicy
    private let merging: MergeLimits
    let indexes: HistoryIndexes
    private let snapshotBuilder: SnapshotBuilder
    /// The work of flexible sync.
    let views: EngineViews
    package let upkeep: EngineUpkeep
    private let meter: ServerMeter

    package init(
        store: any Store,
        clock: WallClock,
        random: RandomSource,
        downloadLimitInBytes: Int = 1 << 20,
        snapshots: SnapshotPolicy = SnapshotPolicy(),
        merging: MergeLimits = MergeLimits(),
        meter: ServerMeter = ServerMeter(),
        timer: any Clock<Duration> = ContinuousClock(),
        logger: Logger = Logger(label: "SyncServer") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.store = store
        self.clock = clock
        self.random = random
        self.downloadLimitInBytes = downloadLimitInBytes
        self.snapshots = snapshots
        self.merging = merging
        self.meter = meter
        self.indexes = HistoryIndexes(store: store)
        let snapshotBuilder = SnapshotBuilder(
            store: store,
            policy: snapshots,
            timer: timer,
            logger: logger
        )
        self.snapshotBuilder = snapshotBuilder
        self.views = EngineViews(
            store: store,
            clock: clock,
            downloadLimitInBytes: downloadLimitInBytes
        )
        self.upkeep = EngineUpkeep(
            store: store,
            clock: clock,
            snapshots: snapshots,
            snapshotBuilder: snapshotBuilder
        )
    }

    /// The server file that a session is bound to.
    struct Opened: Hashable, Sendable {
        let file: ServerFileID
        /// A new client file, if one was requested.
        let assigned: SaltedFileIdent?
        /// The version that added missing parts of the declared schema, if any.
        let published: ServerVersion?
    }

    /// Finds or creates the file of a partition (sync history, 12), with the declared schema.
    /// Throws `SessionFault`, `IntegrationRefusal`, `QuotaExceeded` or `StoreError`.
    func open(
        _ partition: Partition,
        of app: AppID,
        for user: UserID,
        needsFileIdent: Bool,
        rules: AccessRules = AccessRules(),
        ruleData: RuleDataReader? = nil,
        quotas: UserQuotas = .unlimited,
        schema: RealmSchema? = nil
    ) async throws -> Opened {
        let subject = try await subject(user, of: rules.read, ruleData)
        let reads = ExpectedReads(
            file: .partition(app, partition),
            hasSchema: schema != nil,
            usage: needsFileIdent ? user : nil,
            account: rules.read.map { _ in ExpectedReads.Account(app: app, user: user) }
        )
        if !needsFileIdent {
            let opened = try await store.read(expecting: reads) { snapshot in
                guard try Self.admits(rules.read, subject, of: app, to: partition, snapshot) else {
                    throw SessionFault.permissionDenied
                }
                return try Self.openUnchanged(partition, of: app, schema, snapshot)
            }
            if let opened { return opened }
        }
        let salt = random.salt()
        let now = clock.millisecondsSince1970()
        return try await store.write(
            .partition(app, partition),
            for: .user(user),
            expecting: reads
        ) { transaction in
            guard try Self.admits(rules.read, subject, of: app, to: partition, transaction) else {
                throw SessionFault.permissionDenied
            }
            let known = try transaction.file(of: app, partition)
            if needsFileIdent {
                try quotas.admitClientFile(of: user, in: known?.id, transaction)
            } else if known == nil {
                // Its client has an ident of a removed realm; IDENT reports that.
                return Opened(file: .none, assigned: nil, published: nil)
            }
            let file = try known ?? transaction.makeFile(of: app, partition)
            var published: ServerVersion?
            if let schema {
                published = try SchemaPublication(
                    transaction: transaction,
                    now: now
                ).publish(schema, in: file.id)
            }
            guard needsFileIdent else {
                return Opened(file: file.id, assigned: nil, published: published)
            }
            let ident = try transaction.takeFileIdent(in: file.id)
            let client = ClientFile(
                ident: ident,
                salt: salt,
                owner: user,
                generation: file.generation,
                lastSeenAt: now
            )
            try transaction.put(client, in: file.id)
            return Opened(
                file: file.id,
                assigned: SaltedFileIdent(ident: ident, salt: salt),
                published: published
            )
        }
    }

    /// The file of a client that has its ident already; nil if parts of the declared schema are missing.
    private static func openUnchanged(
        _ partition: Partition,
        of app: AppID,
        _ schema: RealmSchema?,
        _ snapshot: any StoreReading
    ) throws -> Opened? {
        guard let file = try snapshot.file(of: app, partition)?.id else {
            // The ident is one of a removed realm; IDENT reports that.
            return Opened(file: .none, assigned: nil, published: nil)
        }
        let isComplete =
            try schema.map { try SchemaPublication.isComplete($0, in: file, snapshot) } ?? true
        return isComplete ? Opened(file: file, assigned: nil, published: nil) : nil
    }

    private static func admits(
        _ rule: AccessRule?,
        _ subject: RuleSubject,
        of app: AppID,
        to partition: Partition,
        _ snapshot: any StoreReading
    ) throws(StoreError) -> Bool {
        guard let rule else { return true }
        guard !rule.needsCustomData || subject.hasCustomData,
            let user = try snapshot.user(subject.user, of: app)
        else { return false }
        return rule.admits(user, to: partition, customData: subject.customData)
    }

    /// A user, with the custom data that a rule is about.
    private struct RuleSubject: Sendable {
        let user: UserID
        /// Nil if the user has no object of its own.
        var customData: JSONValue?
        /// Whether the app has custom user data; otherwise a rule that names it admits no user.
        var hasCustomData = false
    }

    /// Reads what a rule names before the transaction that asks it: the object may be in another file.
    private func subject(
        _ user: UserID,
        of rule: AccessRule?,
        _ ruleData: RuleDataReader?
    ) async throws -> RuleSubject {
        guard let rule, rule.needsCustomData, let ruleData else { return RuleSubject(user: user) }
        let data = try await store.read { try ruleData(user, $0) }
        return RuleSubject(user: user, customData: data?.plain, hasCustomData: true)
    }

    /// Checks an IDENT against the store; a later session with the same ident takes over (sync
    /// history, 13). Throws `SessionFault` or `StoreError`.
    func identify(
        _ ident: ClientMessage.Ident,
        in id: ServerFileID,
        for user: UserID,
        offlineLimitInMilliseconds limit: Int64? = nil
    ) async throws -> ClientFile {
        try await identify(
            ident,
            in: id,
            for: user,
            offlineLimitInMilliseconds: limit,
            subscribing: nil
        ).client
    }

    /// A client file whose session begins.
    struct Identified: Sendable {
        let client: ClientFile
        let view: View
        /// Nil in partition-based sync.
        let rights: UserRightsSignature?
        /// Those whose report a broken connection may have lost (wire protocol, 13.5).
        let rejected: [RejectedChangeset]

        enum View: Sendable {
            /// Partition-based sync has none.
            case none
            /// The client has the view of its subscriptions.
            case inForce(ClientView, of: SubscriptionSetBody)
            /// The subscriptions of the IDENT need a bootstrap.
            case needsBootstrap
        }

        var needsBootstrap: Bool {
            if case .needsBootstrap = view { true } else { false }
        }
    }

    /// The same with the subscriptions of flexible sync. Throws `SubscriptionSetError`, too.
    func identify(
        _ ident: ClientMessage.Ident,
        in id: ServerFileID,
        for user: UserID,
        offlineLimitInMilliseconds limit: Int64?,
        subscribing subscriptions: (body: SubscriptionSetBody, context: FlexibleContext)?
    ) async throws -> Identified {
        let now = clock.millisecondsSince1970()
        let epoch = random.sessionEpoch()
        let reads = ExpectedReads(
            file: .id(id),
            client: ident.file.ident,
            rejected: ExpectedReads.Rejected(
                after: ident.download.serverVersion,
                isFlexible: subscriptions != nil
            ),
            hasSchema: subscriptions != nil,
            salts: [ident.latestServerVersion.version]
        )
        let (identified, outgrown) = try await store.write(
            .file(id),
            for: .user(user),
            expecting: reads
        ) { [snapshots] transaction -> (Identified, ServerFile?) in
            guard let file = try transaction.file(id) else {
                // A missing realm counts as empty: the checks keep their order.
                let claimed = ident.latestServerVersion.version
                try IdentCheck(
                    currentVersion: .zero,
                    file: nil,
                    saltOfLatestVersion: claimed == .zero ? SaltedServerVersion.zero.salt : nil
                ).verify(ident)
                throw SessionFault.badClientFileIdent
            }
            let client = try transaction.clientFile(ident.file.ident, in: id)
            try IdentCheck(
                currentVersion: file.currentVersion,
                file: client.map { client in
                    IdentCheck.KnownFile(
                        salt: client.salt,
                        isOfOlderGeneration: client.generation != file.generation,
                        belongsToUser: client.owner == user,
                        isExpired: client.isExpired
                            || limit.map { now.subtracting(clamping: client.lastSeenAt) > $0 }
                                == true
                            || Self.needsTrimmedHistory(client, ident, file),
                        upload: client.upload
                    )
                },
                saltOfLatestVersion: try transaction.salt(
                    of: ident.latestServerVersion.version,
                    in: file
                )
            ).verify(ident)
            guard var client else { throw SessionFault.badClientFileIdent }
            // A view begins with a bootstrap instead of a snapshot.
            let begins = client.isUntouched && ident.download == .zero && subscriptions == nil
            let isOutgrown = begins && (file.lacksState || snapshots.isWorthALook(file))
            if begins, !isOutgrown, let snapshot = file.snapshot {
                client.snapshotVersion = snapshot.version
            }
            client.sessionEpoch = epoch
            client.lastSeenAt = now
            try transaction.put(client, in: id)
            let rejected = try [RejectedChangeset](
                of: client.ident,
                after: ident.download.serverVersion,
                in: id,
                isFlexible: subscriptions != nil,
                from: transaction
            )
            guard let subscriptions else {
                let identified = Identified(
                    client: client,
                    view: .none,
                    rights: nil,
                    rejected: rejected
                )
                return (identified, isOutgrown ? file : nil)
            }
            let identified = try EngineViews.identify(
                client,
                file,
                at: ident.download,
                subscriptions.body,
                subscriptions.context,
                rejected,
                transaction
            )
            return (identified, nil)
        }
        guard let outgrown else { return identified }
        // The writer is free again: only this client waits for this.
        try await meter.time(MeasuredEvent.builtSnapshot) {
            try await snapshotBuilder.refresh(outgrown, at: now, waitsForOthers: true)
        }
        return Identified(
            client: try await beginWithSnapshot(identified.client, in: id),
            view: identified.view,
            rights: identified.rights,
            rejected: identified.rejected
        )
    }

    /// A client without any history begins with the newest snapshot, if there is one.
    private func beginWithSnapshot(
        _ client: ClientFile,
        in id: ServerFileID
    ) async throws -> ClientFile {
        try await store.write(
            .file(id),
            for: .user(client.owner),
            expecting: ExpectedReads(file: .id(id), client: client.ident)
        ) { transaction in
            let file = try transaction.file(id)
            if file?.lacksState == true {
                throw StoreError(.locked, "the state of server file \(id.rawValue) is being built")
            }
            guard let snapshot = file?.snapshot,
                var current = try transaction.clientFile(client.ident, in: id),
                current.isUntouched, current.generation == client.generation,
                // Otherwise another session has taken over, and has done the same.
                current.sessionEpoch == client.sessionEpoch
            else { return client }
            current.snapshotVersion = snapshot.version
            try transaction.put(current, in: id)
            return current
        }
    }

    /// A file restored from a backup may need entries that it had reported as integrated.
    private static func needsTrimmedHistory(
        _ client: ClientFile,
        _ ident: ClientMessage.Ident,
        _ file: ServerFile
    ) -> Bool {
        let begins = client.upload == .zero && ident.download == .zero
        let start = max(ident.download.serverVersion, client.snapshotVersion)
        return !begins && start < file.baseVersion.version
    }

    /// The user whose rights and quotas count for an upload.
    struct Uploader: Hashable, Sendable {
        let id: UserID
        let app: AppID

        fileprivate var account: ExpectedReads.Account { .init(app: app, user: id) }
    }

    /// Integrates an upload. Throws `IntegrationRefusal`, `QuotaExceeded` or `StoreError`.
    ///
    /// - Parameter session: the upload's; nil if there is none.
    func integrate(
        _ upload: Upload,
        into file: ServerFileID,
        guarding session: SessionGuard? = nil,
        policy: SchemaPolicy,
        by user: Uploader? = nil,
        rules: AccessRules = AccessRules(),
        ruleData: RuleDataReader? = nil,
        quotas: UserQuotas = .unlimited,
        flexible: FlexibleSettings? = nil,
        partitionKey: Text? = nil
    ) async throws -> UploadIntegration.Outcome {
        var subject: RuleSubject?
        if let user { subject = try await self.subject(user.id, of: rules.write, ruleData) }
        var indexes: HistoryIndexes? = indexes
        var barred: Set<ObjectReference> = []
        var ingested = Ingestion()
        // Views need each object as it was before.
        var expectsNewObjects = flexible == nil
        for attempt in 1... {
            // A history that grows faster than its index is read whole.
            if attempt > Self.indexAttempts { indexes = nil }
            do {
                return try await integrate(
                    upload,
                    into: file,
                    guarding: session,
                    policy: policy,
                    by: user,
                    rules: rules,
                    subject: subject,
                    quotas: quotas,
                    indexes: indexes,
                    barring: barred,
                    expectsNewObjects: expectsNewObjects,
                    flexible: flexible,
                    ingested: ingested,
                    partitionKey: partitionKey
                )
            } catch let needed as Ingestion.Needed {
                try await flexible?.sink?.take(needed.ingestion.objects)
                ingested = needed.ingestion
            } catch let needed as HistoryIndexes.Needed {
                try await indexes?.extend(needed.subject)
            } catch is UploadIntegration.ObjectsExist {
                expectsNewObjects = false
            } catch let error as UploadIntegration.ObjectsTooLarge {
                // Barred objects do not change: these are others.
                guard attempt < Self.indexAttempts, barred.isDisjoint(with: error.objects) else {
                    throw IntegrationRefusal.badChangeset(reason: "objects would be too large")
                }
                barred.formUnion(error.objects)
            }
        }
        preconditionFailure("an upload needs no index where there are none")
    }

    private static let indexAttempts = 5

    private func integrate(
        _ upload: Upload,
        into file: ServerFileID,
        guarding session: SessionGuard?,
        policy: SchemaPolicy,
        by user: Uploader?,
        rules: AccessRules,
        subject: RuleSubject?,
        quotas: UserQuotas,
        indexes: HistoryIndexes?,
        barring barred: Set<ObjectReference>,
        expectsNewObjects: Bool,
        flexible: FlexibleSettings?,
        ingested: Ingestion,
        partitionKey: Text?
    ) async throws -> UploadIntegration.Outcome {
        let now = clock.millisecondsSince1970()
        return try await store.write(
            .file(file),
            for: user.map { .user($0.id) } ?? .upkeep,
            guarding: session,
            expecting: upload.expectedReads(
                in: file,
                account: rules.write == nil ? nil : user?.account,
                usage: quotas.historyBytes == nil ? nil : user?.id
            ),
            ofSize: upload.sizeInBytes
        ) { [merging] transaction in
            if let user, !upload.changesets.isEmpty {
                try quotas.admitUpload(of: user.id, transaction)
            }
            var mayWrite = true
            if let rule = rules.write, let subject, let known = try transaction.file(file) {
                mayWrite = try Self.admits(
                    rule,
                    subject,
                    of: known.app,
                    to: known.partition,
                    transaction
                )
            }
            return try UploadIntegration(
                in: transaction,
                policy: policy,
                mayWrite: mayWrite,
                now: now,
                merging: merging,
                indexes: indexes,
                barred: barred,
                expectsNewObjects: expectsNewObjects,
                flexible: flexible,
                ingested: ingested,
                partitionKey: partitionKey
            ).integrate(upload, into: file)
        }
    }

    /// Whether the log-in session is still valid.
    func isLive(_ session: SessionDigest, of user: ConnectedUser) async throws -> Bool {
        let account = ExpectedReads.Account(app: user.app, user: user.id, session: session)
        return try await store.read(expecting: ExpectedReads(account: account)) { snapshot in
            guard let known = try snapshot.user(user.id, of: user.app), !known.isDisabled,
                let session = try snapshot.loginSession(session, of: user.app)
            else { return false }
            return !session.isRevoked
        }
    }

    /// Collects the entries after the cursor; nil if the client file was removed.
    func scan(
        for ident: FileIdent,
        from cursor: DownloadCursor,
        in file: ServerFileID,
        guarding session: SessionGuard? = nil
    ) async throws -> DownloadScan.Batch? {
        let scan = DownloadScan(
            softLimitInBytes: downloadLimitInBytes,
            compaction: snapshots
        )
        let reads = ExpectedReads(
            file: .id(file),
            client: ident,
            hasSchema: true,
            history: ExpectedReads.History(after: cursor.serverVersion, reader: ident)
        )
        return try await store.read(guarding: session, expecting: reads) {
            try scan.run(for: ident, from: cursor, in: file, of: $0)
        }
    }
}

extension ClientFile {
    /// Whether it has uploaded nothing and began with no snapshot.
    fileprivate var isUntouched: Bool { upload == .zero && snapshotVersion == .zero }
}
