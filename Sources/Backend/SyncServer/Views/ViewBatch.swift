import ServerStore
import Versions

/// The content of one DOWNLOAD in steady state.
struct ViewBatch: Hashable, Sendable {
    let changesets: [DownloadChangeset]
    let progress: SyncProgress
    /// Whether the scan reached the end of the history.
    let isComplete: Bool
    /// The range to store before the client gets the changesets, if it is a unit of several versions.
    let range: ViewRange?
}
