package import Changesets
package import Versions

/// One message from a client to a server (wire protocol, 5).
package enum ClientMessage: Hashable, Sendable {
    case bind(Bind)
    case ident(Ident)
    case query(SessionIdent, Query)
    case upload(Upload)
    case mark(SessionIdent, RequestIdent)
    case unbind(SessionIdent)
    case ping(Ping)
    case jsonError(ClientErrorReport)
    case testCommand(SessionIdent, RequestIdent, json: Text)

    /// Opens a session.
    ///
    /// The token field, empty since tokens travel in the upgrade request, and the sub-server flag
    /// are ignored when read and written as 0.
    package struct Bind: Hashable, Sendable {
        package let session: SessionIdent
        /// The partition value as canonical extended JSON, or the JSON object of flexible sync.
        package let path: Text
        package let needsFileIdent: Bool

        package init(session: SessionIdent, path: Text, needsFileIdent: Bool) {
            self.session = session
            self.path = path
            self.needsFileIdent = needsFileIdent
        }
    }

    /// Identifies the client file and its progress.
    package struct Ident: Hashable, Sendable {
        package let session: SessionIdent
        package let file: SaltedFileIdent
        /// The position at which downloading resumes.
        package let download: DownloadCursor
        /// The newest server version that the client has ever seen.
        package let latestServerVersion: SaltedServerVersion
        /// The active query of flexible sync; nil in partition-based sync.
        package let query: Query?

        package init(
            session: SessionIdent,
            file: SaltedFileIdent,
            download: DownloadCursor,
            latestServerVersion: SaltedServerVersion,
            query: Query? = nil
        ) {
            self.session = session
            self.file = file
            self.download = download
            self.latestServerVersion = latestServerVersion
            self.query = query
        }
    }

    /// A subscription set: a JSON object of class names and predicates.
    package struct Query: Hashable, Sendable {
        package let version: QueryVersion
        package let body: Text

        package init(version: QueryVersion, body: Text) {
            self.version = version
            self.body = body
        }
    }

    /// Changesets of the client; an empty upload acknowledges downloads.
    package struct Upload: Hashable, Sendable {
        package let session: SessionIdent
        /// The client's progress through its own history.
        package let progress: UploadCursor
        /// The client no longer needs server history up to this version.
        package let lockedServerVersion: ServerVersion
        package let changesets: [UploadChangeset]

        package init(
            session: SessionIdent,
            progress: UploadCursor,
            lockedServerVersion: ServerVersion,
            changesets: [UploadChangeset]
        ) {
            self.session = session
            self.progress = progress
            self.lockedServerVersion = lockedServerVersion
            self.changesets = changesets
        }
    }

    /// Asks for a PONG with the same time stamp.
    package struct Ping: Hashable, Sendable {
        /// The client's monotonic clock.
        package let timestampInMilliseconds: UInt64
        /// The duration of the previous exchange; 0 if there was none.
        package let roundTripInMilliseconds: UInt64

        package init(timestampInMilliseconds: UInt64, roundTripInMilliseconds: UInt64) {
            self.timestampInMilliseconds = timestampInMilliseconds
            self.roundTripInMilliseconds = roundTripInMilliseconds
        }
    }

    /// The session the message belongs to; nil if it concerns the connection.
    package var session: SessionIdent? {
        switch self {
        case .bind(let bind): bind.session
        case .ident(let ident): ident.session
        case .query(let session, _): session
        case .upload(let upload): upload.session
        case .mark(let session, _): session
        case .unbind(let session): session
        case .ping: nil
        case .jsonError(let report): report.session
        case .testCommand(let session, _, _): session
        }
    }

    /// The message's name in the specification.
    package var name: String {
        switch self {
        case .bind: "BIND"
        case .ident: "IDENT"
        case .query: "QUERY"
        case .upload: "UPLOAD"
        case .mark: "MARK"
        case .unbind: "UNBIND"
        case .ping: "PING"
        case .jsonError: "JSON_ERROR"
        case .testCommand: "TEST_COMMAND"
        }
    }
}

extension ClientMessage {
    /// Roughly the memory of the message, which may be far more than on the wire.
    var sizeInMemory: Int {
        let body =
            switch self {
            case .upload(let upload): upload.changesets.sizeInMemory
            case .query(_, let query): query.body.bytes.count
            case .jsonError(let report): report.encodedBody.count
            case .testCommand(_, _, let json): json.bytes.count
            case .bind, .ident, .mark, .unbind, .ping: 0
            }
        return MemoryLayout<ClientMessage>.stride + body
    }
}

extension Sequence where Element == UploadChangeset {
    /// Roughly the memory of the changesets, empty ones included.
    package var sizeInMemory: Int {
        reduce(0) { $0 + $1.bytes.count + UploadChangeset.overheadInBytes }
    }
}

extension UploadChangeset {
    /// The numbers beside the bytes, and the header of their buffer.
    package static let overheadInBytes = MemoryLayout<UploadChangeset>.stride + 32
}
