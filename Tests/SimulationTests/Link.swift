import SyncProtocol
import Versions

@testable import Server

/// One session between a client and the server, with what is under way in both directions. When the
/// connection is lost, so is all of that.
struct Link {
    let client: ClientFile
    /// What the server holds uploads against.
    var uploadCheck: UploadCheck
    /// How far the server has sent downloads.
    var sent: DownloadCursor
    /// How far the client has scanned its history in this session.
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
