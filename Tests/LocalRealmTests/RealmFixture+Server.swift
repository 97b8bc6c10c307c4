import Changesets
import LocalRealm
import SQLite
import Versions

/// The part of a server that these tests need: sending messages.
extension RealmFixture {
    /// A changeset of another client, as a download for this one.
    static func download(
        _ version: UInt64,
        after clientVersion: UInt64 = 0,
        timestamp: UInt64 = 1,
        from ident: UInt64 = 9,
        _ write: (inout ChangesetWriter) -> Void
    ) -> DownloadChangeset {
        var writer = ChangesetWriter()
        write(&writer)
        return download(
            version,
            after: clientVersion,
            timestamp: timestamp,
            from: ident,
            writer.bytes
        )
    }

    static func download(
        _ version: UInt64,
        after clientVersion: UInt64 = 0,
        timestamp: UInt64 = 1,
        from ident: UInt64 = 9,
        _ bytes: [UInt8]
    ) -> DownloadChangeset {
        DownloadChangeset(
            cursor: DownloadCursor(
                serverVersion: ServerVersion(version),
                lastIntegratedClientVersion: ClientVersion(clientVersion)
            ),
            originTimestamp: OriginTimestamp(timestamp),
            originFileIdent: FileIdent(ident),
            originalSizeInBytes: UInt64(bytes.count),
            bytes: bytes
        )
    }

    static func progress(
        _ serverVersion: UInt64,
        downloaded clientVersion: UInt64 = 0,
        uploaded: UInt64? = nil,
        integrated: UInt64 = 0
    ) -> SyncProgress {
        SyncProgress(
            latestServerVersion: SaltedServerVersion(
                version: ServerVersion(serverVersion),
                salt: Salt(77)
            ),
            download: DownloadCursor(
                serverVersion: ServerVersion(serverVersion),
                lastIntegratedClientVersion: ClientVersion(clientVersion)
            ),
            upload: UploadCursor(
                clientVersion: ClientVersion(uploaded ?? clientVersion),
                lastIntegratedServerVersion: ServerVersion(integrated)
            )
        )
    }

    /// Integrates changesets up to a server version that knows the client's own up to another.
    @discardableResult
    func receive(
        upTo serverVersion: UInt64,
        after clientVersion: UInt64 = 0,
        _ changesets: [DownloadChangeset] = []
    ) throws(LocalRealmError) -> IntegrationReport {
        try realm.integrate(
            changesets,
            progress: Self.progress(serverVersion, downloaded: clientVersion),
            downloadableBytes: 0
        )
    }

    /// Integrates one changeset as the next server version.
    @discardableResult
    func receive(
        after clientVersion: UInt64 = 0,
        timestamp: UInt64 = 1,
        _ write: (inout ChangesetWriter) -> Void
    ) throws(LocalRealmError) -> IntegrationReport {
        var writer = ChangesetWriter()
        write(&writer)
        return try receive(writer.bytes, after: clientVersion, timestamp: timestamp)
    }

    @discardableResult
    func receive(_ changeset: Changeset) throws(LocalRealmError) -> IntegrationReport {
        try receive(changeset.encoded(), after: 0, timestamp: 1)
    }

    private func receive(
        _ bytes: [UInt8],
        after clientVersion: UInt64,
        timestamp: UInt64
    ) throws(LocalRealmError) -> IntegrationReport {
        let progress = realm.status.progress.download
        let version = progress.serverVersion.rawValue + 1
        let base = max(clientVersion, progress.lastIntegratedClientVersion.rawValue)
        let changeset = Self.download(version, after: base, timestamp: timestamp, bytes)
        return try receive(upTo: version, after: base, [changeset])
    }

    func rows(_ sql: String) throws -> [String] {
        try connect().rows(sql).map { row in
            row.map { value in
                switch value {
                case .null: "null"
                case .integer(let value): "\(value)"
                case .real(let value): "\(value)"
                case .text(let value): value
                case .blob(let value): "x\(Hexadecimal.text(of: value))"
                }
            }.joined(separator: "|")
        }
    }
}

extension ObjectReference {
    init(_ className: Text, _ key: Int64) {
        self.init(className: className, key: .int(key))
    }

    init(_ className: Text, _ key: Text) {
        self.init(className: className, key: .string(key))
    }
}
