package import Versions

/// What the server sent in one DOWNLOAD, decoded: the part of integrating it that needs no file, so it can
/// be done while the file is busy with the one before.
package struct ParsedDownload: Sendable {
    let incoming: Result<[Integration.Incoming], Integration.Failure>
    let progress: SyncProgress
    let downloadableBytes: UInt64

    /// A changeset that cannot be decoded is reported when the download is integrated.
    package init(
        _ changesets: [DownloadChangeset],
        progress: SyncProgress,
        downloadableBytes: UInt64
    ) {
        self.incoming = Result { () throws(Integration.Failure) in
            try Integration.parse(changesets)
        }
        self.progress = progress
        self.downloadableBytes = downloadableBytes
    }
}
