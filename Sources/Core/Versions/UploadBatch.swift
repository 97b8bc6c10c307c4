/// What one scan of the local history found to upload (sync history, 6.1).
package struct UploadBatch: Hashable, Sendable {
    /// In ascending order of client version; empty if nothing is left below the end of the scan.
    package let changesets: [UploadChangeset]
    /// How far the history is covered once this batch is sent; persisted nowhere.
    package let progress: UploadCursor
    /// Server history that the client may still need: the server keeps what is above.
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
