package import Changesets
package import Versions

/// One message from a server to a client (wire protocol, 6).
///
/// The error cases can be built outside this module only from a `SessionFault` or a
/// `ConnectionFault`, so a server cannot send a code that ends the client's process.
package enum ServerMessage: Hashable, Sendable {
    case ident(SessionIdent, SaltedFileIdent)
    case download(Download)
    case unbound(SessionIdent)
    case error(PlainErrorReport)
    case jsonError(JSONErrorReport)
    case mark(SessionIdent, RequestIdent)
    case queryError(SessionIdent, QueryError)
    case pong(timestampInMilliseconds: UInt64)
    case logMessage(SessionIdent?, LogMessageBody)
    case testCommand(SessionIdent, RequestIdent, json: Text)

    /// Changesets for the client, and the progress of both ends.
    package struct Download: Hashable, Sendable {
        package let session: SessionIdent
        package let progress: SyncProgress
        package let extent: Extent
        package let changesets: [DownloadChangeset]

        package init(
            session: SessionIdent,
            progress: SyncProgress,
            extent: Extent,
            changesets: [DownloadChangeset]
        ) {
            self.session = session
            self.progress = progress
            self.extent = extent
            self.changesets = changesets
        }
    }

    /// The remaining data after a DOWNLOAD; the one part that differs between the modes.
    package enum Extent: Hashable, Sendable {
        /// Partition-based: 0 means that nothing was left when the message was made.
        case partition(downloadableBytes: UInt64)
        /// Flexible: the query of the data, and the position in its bootstrap.
        case query(QueryVersion, BatchState, ProgressEstimate)

        package var isFlexible: Bool {
            switch self {
            case .partition: false
            case .query: true
            }
        }

        /// The same for a client of an older version: below 12 it reads the estimate as an integer,
        /// which must be 0 (wire protocol, 4).
        package func limited(toVersion version: Int) -> Extent {
            guard version < 12, case .query(let query, let state, _) = self else { return self }
            return .query(query, state, .none)
        }
    }

    package enum BatchState: UInt64, Hashable, Sendable {
        case moreToCome = 0
        case lastOfBootstrap = 1
        case steady = 2
    }

    /// Rejects one query version; the session continues.
    package struct QueryError: Hashable, Sendable {
        package let code: Int
        package let message: Text
        package let version: QueryVersion

        package init(code: Int, message: Text, version: QueryVersion) {
            self.code = code
            self.message = message
            self.version = version
        }
    }

    /// The session the message belongs to; nil if it concerns the connection.
    package var session: SessionIdent? {
        switch self {
        case .ident(let session, _): session
        case .download(let download): download.session
        case .unbound(let session): session
        case .error(let report): report.session
        case .jsonError(let report): report.session
        case .mark(let session, _): session
        case .queryError(let session, _): session
        case .pong: nil
        case .logMessage(let session, _): session
        case .testCommand(let session, _, _): session
        }
    }

    /// The message's name in the specification.
    package var name: String {
        switch self {
        case .ident: "IDENT"
        case .download: "DOWNLOAD"
        case .unbound: "UNBOUND"
        case .error: "ERROR"
        case .jsonError: "JSON_ERROR"
        case .mark: "MARK"
        case .queryError: "QUERY_ERROR"
        case .pong: "PONG"
        case .logMessage: "LOG_MESSAGE"
        case .testCommand: "TEST_COMMAND"
        }
    }
}
