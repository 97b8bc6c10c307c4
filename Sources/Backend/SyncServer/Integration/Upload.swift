import Versions

/// An UPLOAD whose header and changesets passed the checks of its session, ready to integrate (sync
/// history, 14.3).
struct Upload: Hashable, Sendable {
    let client: FileIdent
    /// The epoch of its session: another session of the same file may have taken over.
    let sessionEpoch: UInt64
    let changesets: [UploadChangeset]
    let progress: UploadCursor
    let lockedServerVersion: ServerVersion

    init(
        client: FileIdent,
        sessionEpoch: UInt64,
        changesets: [UploadChangeset],
        progress: UploadCursor,
        lockedServerVersion: ServerVersion
    ) {
        self.client = client
        self.sessionEpoch = sessionEpoch
        self.changesets = changesets
        self.progress = progress
        self.lockedServerVersion = lockedServerVersion
    }

    /// Bytes of all changesets.
    var sizeInBytes: Int { changesets.reduce(0) { $0 + $1.bytes.count } }
}
