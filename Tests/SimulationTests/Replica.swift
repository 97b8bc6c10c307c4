import TestSupport
import Versions

/// A client file: the state that outlives the client's process.
protocol Replica: AnyObject {
    var fileIdent: SaltedFileIdent { get }
    var progress: SyncProgress { get }
    var localVersion: ClientVersion { get }
    /// Entries of the history that are not trimmed yet.
    var historyCount: Int { get throws }
    /// The number of them that a merge has changed.
    var reciprocalCount: Int { get throws }

    func storeFileIdent(_ ident: SaltedFileIdent) throws

    /// Commits a few changes, as a program without sync would.
    func write(at time: UInt64, using random: inout SplitMix64) throws

    /// Drains the writes into the history.
    func drain() throws

    func scanUploads(from cursor: UploadCursor) throws -> UploadBatch
    func integrate(_ changesets: [DownloadChangeset], progress: SyncProgress) throws

    /// Opens the file again.
    func restart() throws
}
