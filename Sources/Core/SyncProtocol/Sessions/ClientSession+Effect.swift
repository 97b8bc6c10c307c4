package import Versions

extension ClientSession {
    /// When a session may upload.
    package enum UploadActivation: Sendable {
        /// Once everything has been downloaded.
        case afterDownload
        case immediate
        /// The file is a copy for reading: nothing is ever uploaded, not even an acknowledgement of
        /// downloads (client reset, 13).
        case never
    }

    /// The action of a session in its turn.
    package enum Step: Hashable, Sendable {
        case send(ClientMessage)
        /// Read the local history and answer with `uploadScanned`.
        case scanUploads(UploadScan)
    }

    /// The action that a message requires.
    package enum Effect: Hashable, Sendable {
        /// Store the ident durably and answer with `fileIdentStored`.
        case storeFileIdent(SaltedFileIdent)
        /// Integrate, and answer with `integrated`, `integrationFailed` or
        /// `integrationInterrupted`. After a failure all further requests are answered in the same
        /// way, and not carried out.
        case integrate(Download)
        /// Record that the server rejects a subscription set, and answer with `queryErrorStored`.
        case storeQueryError(ServerMessage.QueryError)
        /// Every download completion requested so far has been reached.
        case downloadCompleted
        /// The session is suspended; `resumeDelay` tells whether and when to `resume` it.
        case suspend(ServerProblem)
        /// An error that the session survives.
        case report(ServerProblem)
        /// A write was rejected, and the server's undo of it has not arrived yet; `report` follows
        /// that.
        case undoing(ServerProblem)
        case log(LogMessageBody)
        /// Close the connection: the server broke the protocol.
        case close(ProtocolViolation)
    }

    /// A DOWNLOAD that passed the checks.
    package struct Download: Hashable, Sendable {
        package let changesets: [DownloadChangeset]
        package let progress: SyncProgress
        package let part: Part
        /// Whether the upload cursor may go back (``DownloadCheck/isFirst``).
        package let isFirst: Bool

        package enum Part: Hashable, Sendable {
            /// Of the history of a partition, or of a view in steady state.
            case history(downloadableBytes: UInt64)
            /// Of the bootstrap of a subscription set: staged until the last message has come. The first
            /// message on this connection replaces what an earlier one has left.
            case bootstrap(QueryVersion, isFirst: Bool, isLast: Bool, ProgressEstimate)

            package var downloadableBytes: UInt64 {
                switch self {
                case .history(let bytes): bytes
                case .bootstrap: 0
                }
            }
        }
    }
}
