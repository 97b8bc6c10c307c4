import ServerStore
import Versions

/// The rejected writes of one client after a version, as they were expected with the begin of a transaction.
struct RejectedRows: Sendable {
    enum Content: Sendable {
        /// The first page of its compensating entries.
        case compensating([HistoryEntry])
        /// In flexible sync, all of them.
        case recorded([RecordedRejection])
    }

    let start: ServerVersion
    let content: Content
}
