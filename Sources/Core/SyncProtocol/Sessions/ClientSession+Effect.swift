package import Versions

extension ClientSession {
    /// When a session may upload.
    package enum UploadActivation: Sendable {
        /// Once everything has been downloaded.
        case afterDownload
        case immediate
        /// The file is a copy for reading: nothing is ever uploaded, not even that something was
        /// downloaded (client reset, 13).
        case never
    }

    /// What a session does with its turn.
    package enum Step: Hashable, Sendable {
        case send(ClientMessage)
        /// Read the local history and answer with `uploadScanned`.
        case scanUploads(UploadScan)
    }

    /// What a message leads to.
    package enum Effect: Hashable, Sendable {
        /// Store the ident durably and answer with `fileIdentStored`.
        case storeFileIdent(SaltedFileIdent)
        /// Integrate, and answer with `integrated`, `integrationFailed` or `integrationInterrupted`.
        /// After a failure everything asked for behind it is answered so as well, and not done.
        case integrate(Download)
        /// Every download completion asked for so far has come.
        case downloadCompleted
        /// The session is suspended; `resumeDelay` tells whether and when to `resume` it.
        case suspend(ServerProblem)
        /// An error that the session survives.
        case report(ServerProblem)
        /// A write was rejected, and the server's undo of it is still to come; `report` follows that.
        case undoing(ServerProblem)
        case log(LogMessageBody)
        /// Close the connection: the server broke the protocol.
        case close(ProtocolViolation)
    }

    /// A DOWNLOAD that passed the checks.
    package struct Download: Hashable, Sendable {
        package let changesets: [DownloadChangeset]
        package let progress: SyncProgress
        package let downloadableBytes: UInt64
    }
}
