import Changesets
import Documents
import SyncProtocol
import Testing
import Versions

/// Steps of a session of flexible sync.
extension TestClient {
    static let flexiblePath = #"{"schemaVersion":0,"sessionReason":0}"#
    static let freshCopyPath = #"{"schemaVersion":0,"sessionReason":1}"#

    /// Subscriptions of the class `Task`; nil: none.
    static func query(_ version: UInt64, _ condition: String?) -> ClientMessage.Query {
        let body = condition.map { #"{"Task":"(\#($0))"}"# } ?? "{}"
        return ClientMessage.Query(version: QueryVersion(version), body: Text(body))
    }

    /// Sends an IDENT with subscriptions.
    func identify(
        _ file: SaltedFileIdent,
        _ query: ClientMessage.Query,
        _ progress: SyncProgress = .zero
    ) async throws {
        try await send(
            .ident(
                .init(
                    session: 1,
                    file: file,
                    download: progress.download,
                    latestServerVersion: progress.latestServerVersion,
                    query: query
                )
            )
        )
    }

    /// Binds a new file, and takes the bootstrap of the empty set.
    func startFlexible(
        _ path: String = TestClient.flexiblePath
    ) async throws -> (file: SaltedFileIdent, download: ServerMessage.Download) {
        try await bind(1, path)
        let file = try await expectIdent()
        try await identify(file, Self.query(0, nil))
        let first = try await expectDownload()
        #expect(first.extent == .query(QueryVersion(0), .lastOfBootstrap, .complete))
        #expect(!first.changesets.isEmpty)
        return (file, first)
    }

    /// Binds a file of before.
    func rebind(
        _ file: SaltedFileIdent,
        _ query: ClientMessage.Query,
        _ progress: SyncProgress
    ) async throws {
        try await bind(1, Self.flexiblePath, needsFileIdent: false)
        try await identify(file, query, progress)
    }

    /// The downloads of a client before the answer to a MARK.
    struct Received {
        var bootstrap: [DownloadChangeset] = []
        var steady: [DownloadChangeset] = []
        var progress = SyncProgress.zero

        /// The objects after the bootstrap and the changes behind it.
        func realm() throws -> InMemoryRealm {
            var realm = InMemoryRealm()
            for changeset in bootstrap + steady {
                try realm.apply(Changeset(decoding: changeset.bytes))
            }
            return realm
        }

        /// The keys of the tasks, all of them integers; the schema came with an earlier bootstrap.
        func keys() throws -> Set<ObjectKey> {
            var keys: Set<ObjectKey> = []
            for download in bootstrap + steady {
                for instruction in try Changeset(decoding: download.bytes).instructions {
                    switch instruction {
                    case .createObject(let task):
                        if case .int(let key) = task.key { keys.insert(.int(key)) }
                    case .eraseObject(let task):
                        if case .int(let key) = task.key { keys.remove(.int(key)) }
                    default: break
                    }
                }
            }
            return keys
        }
    }

    /// Sends a QUERY and a MARK, and receives up to the answer to the MARK.
    func subscribe(_ query: ClientMessage.Query, request: UInt64) async throws -> Received {
        try await send(.query(1, query))
        return try await receive(upToMark: request)
    }

    /// Sends a MARK, and receives up to its answer.
    func receive(upToMark request: UInt64) async throws -> Received {
        try await send(.mark(1, RequestIdent(request)))
        var received = Received()
        while let message = try await receive() {
            switch message {
            case .download(let download):
                received.progress = download.progress
                if case .query(_, let state, _) = download.extent, state != .steady {
                    received.bootstrap += download.changesets
                } else {
                    received.steady += download.changesets
                }
            case .mark(1, RequestIdent(request)): return received
            default: throw Unexpected(wanted: "DOWNLOAD or MARK", got: message)
            }
        }
        throw Unexpected(wanted: "MARK")
    }

    /// Receives downloads until the server has acknowledged a version of the client.
    @discardableResult
    func receive(acknowledging version: UInt64) async throws -> SyncProgress {
        while true {
            let progress = try await expectDownload().progress
            if progress.upload.clientVersion >= ClientVersion(version) { return progress }
        }
    }
}
