import TestSupport
import Versions

/// A client file: what survives when the client's process ends.
protocol Replica: AnyObject {
    var fileIdent: SaltedFileIdent { get }
    var progress: SyncProgress { get }
    var localVersion: ClientVersion { get }
    /// Entries of the history that are not trimmed yet.
    var historyCount: Int { get throws }
    /// Of these, the ones that a merge has changed.
    var reciprocalCount: Int { get throws }

    func storeFileIdent(_ ident: SaltedFileIdent) throws

    /// Commits a few changes, as a program would that knows nothing of any server.
    func write(at time: UInt64, using random: inout SplitMix64) throws

    /// Makes what was written part of the history.
    func drain() throws

    func scanUploads(from cursor: UploadCursor) throws -> UploadBatch
    func integrate(_ changesets: [DownloadChangeset], progress: SyncProgress) throws

    /// Opens the file anew.
    func restart() throws
}
