import SyncProtocol
import Versions

@testable import ServerStore
@testable import SyncServer

/// One session between a client and the server, with the messages in transit in both directions. A
/// lost connection loses all of them.
struct Link {
    let client: ClientFile
    /// The checks of the server on uploads.
    var uploadCheck: UploadCheck
    /// The position up to which the server has sent downloads.
    var sent: DownloadCursor
    /// The part of its history that the client has scanned in this session.
    var scanned: UploadCursor
    var uploads: [UploadBatch] = []
    var downloads: [DownloadScan.Batch] = []

    init(_ client: ClientFile, _ progress: SyncProgress) {
        self.client = client
        uploadCheck = UploadCheck(
            threshold: client.upload,
            lockedServerVersion: client.lockedServerVersion
        )
        sent = progress.download
        scanned = progress.upload
    }
}
