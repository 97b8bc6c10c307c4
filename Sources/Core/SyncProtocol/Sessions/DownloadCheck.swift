package import Versions

/// The checks of a client on every DOWNLOAD (wire protocol, 12.2; sync history, 7.1).
package struct DownloadCheck: Sendable {
    /// The progress of the DOWNLOAD before.
    package var progress: SyncProgress
    /// The client's own newest version.
    package var lastVersionAvailable: ClientVersion
    package var fileIdent: FileIdent
    /// Whether no DOWNLOAD was received since IDENT. Then the upload cursor may go back: a server put back
    /// from a backup has lost UPLOADs that made no version, so IDENT does not reveal it. It never goes
    /// back behind the download cursor's client version, below which history is removed.
    package var isFirst: Bool

    package init(
        progress: SyncProgress,
        lastVersionAvailable: ClientVersion,
        fileIdent: FileIdent,
        isFirst: Bool = false
    ) {
        self.progress = progress
        self.lastVersionAvailable = lastVersionAvailable
        self.fileIdent = fileIdent
        self.isFirst = isFirst
    }

    package func verify(_ message: ServerMessage.Download) throws(DownloadViolation) {
        try verify(header: message.progress)
        var cursor = progress.download
        for changeset in message.changesets {
            try verify(changeset, after: cursor, message)
            cursor = changeset.cursor
        }
    }

    private func verify(header new: SyncProgress) throws(DownloadViolation) {
        let old = progress
        guard new.latestServerVersion.version >= old.latestServerVersion.version else {
            throw .latestServerVersionDecreased
        }
        guard new.upload.clientVersion >= old.upload.clientVersion || isFirst else {
            throw .uploadClientVersionDecreased
        }
        guard new.upload.clientVersion <= lastVersionAvailable else {
            throw .uploadClientVersionNeverMade
        }
        guard new.download.serverVersion >= old.download.serverVersion else {
            throw .downloadServerVersionDecreased
        }
        guard new.download.serverVersion <= new.latestServerVersion.version else {
            throw .downloadServerVersionAboveLatest
        }
        guard
            new.download.lastIntegratedClientVersion >= old.download.lastIntegratedClientVersion
        else { throw .downloadClientVersionDecreased }
        guard new.download.lastIntegratedClientVersion <= new.upload.clientVersion else {
            throw .downloadClientVersionAboveUpload
        }
        guard new.download.serverVersion >= new.upload.lastIntegratedServerVersion else {
            throw .uploadServerVersionAboveDownload
        }
    }

    private func verify(
        _ changeset: DownloadChangeset,
        after previous: DownloadCursor,
        _ message: ServerMessage.Download
    ) throws(DownloadViolation) {
        let (cursor, header) = (changeset.cursor, message.progress.download)
        guard cursor.serverVersion <= header.serverVersion,
            message.extent.isAscending(previous.serverVersion, cursor.serverVersion)
        else { throw .changesetServerVersion(cursor.serverVersion) }
        guard cursor.lastIntegratedClientVersion >= previous.lastIntegratedClientVersion,
            cursor.lastIntegratedClientVersion <= header.lastIntegratedClientVersion
        else { throw .changesetClientVersion(cursor.lastIntegratedClientVersion) }
        guard changeset.originFileIdent != .none, changeset.originFileIdent != fileIdent else {
            throw .changesetOrigin(changeset.originFileIdent)
        }
    }
}

extension ServerMessage.Extent {
    /// Whether a changeset may follow one of the first version. Synthetic parts of a view share versions.
    fileprivate func isAscending(_ first: ServerVersion, _ second: ServerVersion) -> Bool {
        switch self {
        case .partition: second > first
        case .query: second >= first && second > .zero
        }
    }
}

/// The rule that a DOWNLOAD broke.
package enum DownloadViolation: Error, Hashable, Sendable {
    /// No such subscription set, or one that the server has rejected.
    case queryVersion(QueryVersion)
    case latestServerVersionDecreased
    case uploadClientVersionDecreased
    case uploadClientVersionNeverMade
    case downloadServerVersionDecreased
    case downloadServerVersionAboveLatest
    case downloadClientVersionDecreased
    case downloadClientVersionAboveUpload
    case uploadServerVersionAboveDownload
    case changesetServerVersion(ServerVersion)
    case changesetClientVersion(ClientVersion)
    case changesetOrigin(FileIdent)
}

extension DownloadViolation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .queryVersion(let version):
            "query version \(version.rawValue) awaits no bootstrap"
        case .latestServerVersionDecreased: "the latest server version went back"
        case .uploadClientVersionDecreased: "the upload client version went back"
        case .uploadClientVersionNeverMade: "the upload client version was never made here"
        case .downloadServerVersionDecreased: "the download server version went back"
        case .downloadServerVersionAboveLatest:
            "the download server version is above the latest server version"
        case .downloadClientVersionDecreased: "the download client version went back"
        case .downloadClientVersionAboveUpload:
            "the download client version is above the upload client version"
        case .uploadServerVersionAboveDownload:
            "the upload server version is above the download server version"
        case .changesetServerVersion(let version):
            "server version \(version.rawValue) of a changeset is out of order"
        case .changesetClientVersion(let version):
            "client version \(version.rawValue) of a changeset is out of order"
        case .changesetOrigin(let ident):
            "a changeset has the origin file ident \(ident.rawValue)"
        }
    }
}
