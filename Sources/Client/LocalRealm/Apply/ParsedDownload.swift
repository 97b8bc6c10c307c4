package import Versions

/// One DOWNLOAD, decoded: the part of its integration that needs no file, so it can run while the
/// file is busy with the one before.
package struct ParsedDownload: Sendable {
    private(set) var incoming: Result<[Integration.Incoming], Integration.Failure>
    let progress: SyncProgress
    let downloadableBytes: UInt64
    /// Whether the upload cursor may go back, as far as the download cursor's client version.
    let isFirst: Bool
    /// The most changesets that one transaction may try.
    private(set) var changesetsAtOnce = Int.max

    /// A changeset that cannot be decoded is reported when the download is integrated.
    package init(
        _ changesets: [DownloadChangeset],
        progress: SyncProgress,
        downloadableBytes: UInt64,
        isFirst: Bool = false
    ) {
        self.incoming = Result { () throws(Integration.Failure) in
            try Integration.parse(changesets)
        }
        self.progress = progress
        self.downloadableBytes = downloadableBytes
        self.isFirst = isFirst
    }

    /// Whether it has no changeset.
    var isEmpty: Bool {
        if case .success(let incoming) = incoming { incoming.isEmpty } else { false }
    }

    /// The rest of the download after some of its changesets were integrated; nil if none is left.
    ///
    /// As the merge was too large for one transaction, the next one tries few more than this one
    /// did.
    package func rest(after report: IntegrationReport) -> ParsedDownload? {
        let count = report.remainingChangesetCount
        guard count > 0, case .success(let incoming) = incoming else { return nil }
        var rest = self
        rest.incoming = .success(incoming.suffix(count))
        rest.changesetsAtOnce = max(1, 2 * report.integratedChangesetCount)
        return rest
    }
}
