package import Versions

/// One DOWNLOAD of a bootstrap (flexible sync, 5.5).
package struct BootstrapMessage: Sendable {
    package let version: QueryVersion
    /// Whether it begins the bootstrap on this connection: an earlier one that did not finish is deleted.
    package let isFirst: Bool
    package let isLast: Bool
    package let changesets: [DownloadChangeset]
    package let progress: SyncProgress

    package init(
        version: QueryVersion,
        isFirst: Bool,
        isLast: Bool,
        changesets: [DownloadChangeset],
        progress: SyncProgress
    ) {
        self.version = version
        self.isFirst = isFirst
        self.isLast = isLast
        self.changesets = changesets
        self.progress = progress
    }
}
