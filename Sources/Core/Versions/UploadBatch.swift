/// The result of one scan of the local history for uploads (sync history, 6.1).
package struct UploadBatch: Hashable, Sendable {
    /// In ascending order of client version; empty if nothing is left below the end of the scan.
    package let changesets: [UploadChangeset]
    /// The progress once this batch is sent; not persisted.
    package let progress: UploadCursor
    /// Server history above this version is still needed by the client, so the server keeps it.
    package let lockedServerVersion: ServerVersion

    package init(
        changesets: [UploadChangeset],
        progress: UploadCursor,
        lockedServerVersion: ServerVersion
    ) {
        self.changesets = changesets
        self.progress = progress
        self.lockedServerVersion = lockedServerVersion
    }
}
