package import Changesets
package import Scopes
package import Subscriptions
package import Versions

/// The state of a local realm (sync history, 2.1).
package struct LocalRealmStatus: Hashable, Sendable {
    /// Random name of this file, in hexadecimal; a copy that is adopted gets a new one.
    package let instance: String
    /// Machine, file system and file at its last opening.
    package let home: String
    /// The file was opened as a copy of another one, and asks for a file ident of its own.
    package let isAdoptedCopy: Bool
    package let localVersion: ClientVersion
    package let historyBaseVersion: ClientVersion
    /// `.none` until the server has assigned one.
    package let fileIdent: SaltedFileIdent
    package let progress: SyncProgress
    package let downloadedBytes: UInt64
    /// Still to download, as last reported by the server.
    package let downloadableBytes: UInt64
    package let uploadedBytes: UInt64
    /// Uploaded and still to upload.
    package let uploadableBytes: UInt64
    package let isFirstDownloadFinished: Bool
    /// Nil unless the realm uses flexible sync.
    package let subscriptions: SubscriptionSets?
    /// The part of the app's data in the file; not the configured one after a change of the kind of sync.
    package let scope: SyncScope
    /// The change of a realm of one partition to flexible sync; nil if there was none.
    package let migration: RealmMigration?
    /// Objects of asymmetric classes on their way to the server; nil if the realm has no such class.
    package let ingest: IngestBacklog?
    /// Classes that links of subscribed classes lead to, and that have no subscription themselves: such
    /// links read as null.
    package let unsubscribedTargets: [Text]
}

/// The result of a drain of the capture log (local realm, 4).
package struct CaptureReport: Hashable, Sendable {
    /// The newest version of the realm.
    package var localVersion: ClientVersion
    /// Changesets added to the history.
    package var changesetCount: Int
    /// Values that could not be sent: the rows hold the previous ones.
    package var rejected: [RejectedValue]
    /// Findings about the tables since the last report.
    package var notices: [SchemaNotice]

    package init(
        localVersion: ClientVersion,
        changesetCount: Int = 0,
        rejected: [RejectedValue] = [],
        notices: [SchemaNotice] = []
    ) {
        self.localVersion = localVersion
        self.changesetCount = changesetCount
        self.rejected = rejected
        self.notices = notices
    }

    /// Adds what a drain just before has reported.
    mutating func add(earlier: CaptureReport?) {
        guard let earlier else { return }
        changesetCount += earlier.changesetCount
        rejected = earlier.rejected + rejected
        notices = earlier.notices + notices
    }
}

/// A captured value that does not fit its property's type: `capture.rejected` (local realm, 4.6).
package struct RejectedValue: Hashable, Sendable {
    package let className: Text
    /// The primary key as an SQL literal.
    package let key: String
    /// Nil if the key itself cannot be sent; then the row is deleted.
    package let property: Text?
    package let reason: String
}

/// The result of an integration.
package struct IntegrationReport: Hashable, Sendable {
    /// The local writes that were drained first.
    package var drained: CaptureReport
    package var localVersion: ClientVersion
    package var integratedChangesetCount: Int
    /// Changesets of the download that are left to another transaction; the cursors exclude them.
    package var remainingChangesetCount: Int
    /// Local changesets that the server has integrated, newly acknowledged by this download.
    package var acknowledgedChangesetCount: Int
    /// Classes that the server added, in order of arrival.
    package var learnedClasses: [Text]

    /// The report of a message that left the realm as it was.
    package init(unchanged localVersion: ClientVersion) {
        self.init(
            drained: CaptureReport(localVersion: localVersion),
            localVersion: localVersion,
            integratedChangesetCount: 0,
            remainingChangesetCount: 0,
            acknowledgedChangesetCount: 0,
            learnedClasses: []
        )
    }

    init(
        drained: CaptureReport,
        localVersion: ClientVersion,
        integratedChangesetCount: Int,
        remainingChangesetCount: Int,
        acknowledgedChangesetCount: Int,
        learnedClasses: [Text]
    ) {
        self.drained = drained
        self.localVersion = localVersion
        self.integratedChangesetCount = integratedChangesetCount
        self.remainingChangesetCount = remainingChangesetCount
        self.acknowledgedChangesetCount = acknowledgedChangesetCount
        self.learnedClasses = learnedClasses
    }

    /// Adds the report of the next transaction with the same download.
    package mutating func add(_ next: IntegrationReport) {
        drained.changesetCount += next.drained.changesetCount
        drained.localVersion = next.drained.localVersion
        drained.rejected += next.drained.rejected
        drained.notices += next.drained.notices
        localVersion = next.localVersion
        integratedChangesetCount += next.integratedChangesetCount
        remainingChangesetCount = next.remainingChangesetCount
        acknowledgedChangesetCount += next.acknowledgedChangesetCount
        learnedClasses += next.learnedClasses
    }
}
