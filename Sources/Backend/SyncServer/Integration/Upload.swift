import Changesets
import ServerStore
import SyncProtocol
import Versions

/// An UPLOAD whose header and changesets passed the checks of its session, parsed and ready to integrate
/// (sync history, 14.3).
struct Upload: Sendable {
    let client: FileIdent
    /// The epoch of its session: another session of the same file may have taken over.
    let sessionEpoch: UInt64
    let changesets: [ParsedChangeset]
    let progress: UploadCursor
    let lockedServerVersion: ServerVersion

    /// Parses the changesets, which takes time.
    ///
    /// - Parameter mayStayPlain: whether plain changesets are only decoded where that turns out to be
    ///   necessary. Views need their instructions.
    init(
        client: FileIdent,
        sessionEpoch: UInt64,
        changesets: [UploadChangeset],
        progress: UploadCursor,
        lockedServerVersion: ServerVersion,
        mayStayPlain: Bool = true
    ) {
        self.client = client
        self.sessionEpoch = sessionEpoch
        self.changesets = changesets.map {
            ParsedChangeset($0, mayStayPlain: mayStayPlain)
        }
        self.progress = progress
        self.lockedServerVersion = lockedServerVersion
    }

    /// Bytes of all changesets.
    var sizeInBytes: Int { changesets.reduce(0) { $0 + $1.sizeInBytes } }

    /// The rows that its integration reads if nothing is unusual.
    ///
    /// - Parameters:
    ///   - account: the user whose permission is checked.
    ///   - usage: the user whose quota counts.
    func expectedReads(
        in file: ServerFileID,
        account: ExpectedReads.Account?,
        usage: UserID?
    ) -> ExpectedReads {
        ExpectedReads(
            file: .id(file),
            client: client,
            hasSchema: true,
            history: changesets.first.map { first in
                ExpectedReads.History(
                    after: first.cursor.lastIntegratedServerVersion,
                    reader: client,
                    withReciprocals: true
                )
            },
            documents: changesets.flatMap(\.objects),
            usage: changesets.isEmpty ? nil : usage,
            account: account
        )
    }
}
