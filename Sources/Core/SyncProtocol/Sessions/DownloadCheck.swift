package import Versions

/// The checks of a client on every DOWNLOAD of partition-based sync (wire protocol, 12.2; sync
/// history, 7.1).
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
        guard case .partition = message.extent else { throw .otherMode }
        try verify(header: message.progress)
        var cursor = progress.download
        for changeset in message.changesets {
            try verify(changeset, after: cursor, header: message.progress.download)
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
        header: DownloadCursor
    ) throws(DownloadViolation) {
        let cursor = changeset.cursor
        guard cursor.serverVersion > previous.serverVersion,
            cursor.serverVersion <= header.serverVersion
        else { throw .changesetServerVersion(cursor.serverVersion) }
        guard cursor.lastIntegratedClientVersion >= previous.lastIntegratedClientVersion,
            cursor.lastIntegratedClientVersion <= header.lastIntegratedClientVersion
        else { throw .changesetClientVersion(cursor.lastIntegratedClientVersion) }
        guard changeset.originFileIdent != .none, changeset.originFileIdent != fileIdent else {
            throw .changesetOrigin(changeset.originFileIdent)
        }
    }
}

/// The rule that a DOWNLOAD broke.
package enum DownloadViolation: Error, Hashable, Sendable {
    case otherMode
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
        case .otherMode: "a message of flexible sync"
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
