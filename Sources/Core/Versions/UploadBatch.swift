/// The result of one scan of the local history for uploads (sync history, 6.1).
package struct UploadBatch: Hashable, Sendable {
    /// In ascending order of client version; empty if nothing is left below the end of the scan.
    package let changesets: [UploadChangeset]
    /// The progress to report with the batch. One client version never has two server versions here, also in
    /// another session: the server would take it for another client.
    package let progress: UploadCursor
    /// The start of the next scan; not persisted.
    package let reached: UploadCursor
    /// Server history above this version is still needed by the client, so the server keeps it.
    package let lockedServerVersion: ServerVersion

    /// - Parameter reached: nil is the progress.
    package init(
        changesets: [UploadChangeset],
        progress: UploadCursor,
        reached: UploadCursor? = nil,
        lockedServerVersion: ServerVersion
    ) {
        self.changesets = changesets
        self.progress = progress
        self.reached = reached ?? progress
        self.lockedServerVersion = lockedServerVersion
    }
}
