import Changesets
import LocalRealm
import Schemas
import Scopes
import Subscriptions
import TestSupport
import Versions

extension RealmOwner {
    static let flexible = RealmOwner(
        appID: "shop-abcde",
        userID: "till-7",
        scope: .subscriptions
    )
}

/// A server's messages to a realm of flexible sync, without a session.
enum FlexibleRealm {
    static let ident = SaltedFileIdent(ident: FileIdent(2), salt: Salt(9))

    /// The schema of the notes, as version 0 brings it.
    static let schema = RealmFixture.download(1) { writer in
        add("Note", to: &writer)
        writer.addColumn("text", to: "Note", type: .string, isNullable: false, collection: .single)
        writer.addColumn(
            "next",
            to: "Note",
            type: .link,
            isNullable: true,
            collection: .single,
            linkTarget: "Note"
        )
        add("Tag", to: &writer)
    }

    static func add(_ className: Text, to writer: inout ChangesetWriter) {
        writer.addTopLevelClass(className, primaryKey: "_id", type: .int, isNullable: false)
    }

    /// An object that enters the view.
    static func entering(
        _ key: Int64,
        _ text: Text,
        version: UInt64,
        after clientVersion: UInt64 = 0
    ) -> DownloadChangeset {
        RealmFixture.download(version, after: clientVersion, timestamp: 1 << 40, from: 1) {
            writer in
            let note = ObjectReference("Note", key)
            writer.eraseObject(note)
            writer.createObject(note)
            writer.update(note, "text", to: .scalar(.string(text)))
        }
    }

    static func leaving(
        _ key: Int64,
        version: UInt64,
        after clientVersion: UInt64 = 0
    ) -> DownloadChangeset {
        RealmFixture.download(version, after: clientVersion, timestamp: 1 << 40, from: 1) {
            writer in
            writer.eraseObject(ObjectReference("Note", key))
        }
    }
}

extension RealmFile {
    /// Commits operations as a set; its version.
    @discardableResult
    func subscribe(_ operations: SubscriptionOperation...) throws -> QueryVersion {
        var random = SplitMix64(seed: UInt64(status.localVersion.rawValue))
        return try updateSubscriptions(operations, using: &random).set.version
    }

    /// Stages a bootstrap, one changeset in each message, and applies it.
    func bootstrap(
        _ version: QueryVersion,
        at serverVersion: UInt64,
        after clientVersion: UInt64 = 0,
        _ changesets: [DownloadChangeset]
    ) throws(LocalRealmError) {
        try stage(version, at: serverVersion, after: clientVersion, changesets)
        _ = try applyBootstrap()
    }

    func stage(
        _ version: QueryVersion,
        at serverVersion: UInt64,
        after clientVersion: UInt64 = 0,
        isComplete: Bool = true,
        _ changesets: [DownloadChangeset]
    ) throws(LocalRealmError) {
        for (index, changeset) in changesets.enumerated() {
            try stage(
                BootstrapMessage(
                    version: version,
                    isFirst: index == 0,
                    isLast: isComplete && index == changesets.count - 1,
                    changesets: [changeset],
                    progress: RealmFixture.progress(serverVersion, downloaded: clientVersion)
                )
            )
        }
    }

    /// The server knows the file, and has sent the schema; the empty set is complete.
    func beginFlexibleSync() throws(LocalRealmError) {
        try storeFileIdent(FlexibleRealm.ident)
        try bootstrap(QueryVersion(0), at: 1, [FlexibleRealm.schema])
        try markDownloadCompleted()
    }

    var setStates: [String] {
        status.subscriptions?.sets.map { "\($0.version.rawValue) \($0.state)" } ?? []
    }
}
