import Changesets
import SyncProtocol
import Testing
import Transport
import Versions

/// The client's end of a sync connection, without any client behind it.
final class TestClient: Sendable {
    private let stream: any MessageStream
    private let context: WireContext

    init(_ stream: any MessageStream, mode: SyncMode = .partitionBased) {
        self.stream = stream
        self.context = WireContext(mode: mode, limits: .client)
    }

    func send(_ message: ClientMessage) async throws {
        try await stream.send(message.encoded())
    }

    func send(raw bytes: [UInt8]) async throws {
        try await stream.send(bytes)
    }

    func send(text: String) async throws {
        try await stream.send(Array(text.utf8))
    }

    /// The next message except log messages; nil once the server has closed with code 1000.
    func receive() async throws -> ServerMessage? {
        while let bytes = try await stream.receive() {
            let message = try ServerMessage(decoding: bytes, context: context)
            if case .logMessage = message { continue }
            return message
        }
        return nil
    }

    func receiveRaw() async throws -> [UInt8]? {
        try await stream.receive()
    }

    func close() async {
        await stream.close(.normal, reason: "")
    }
}

// MARK: Steps of a session

extension TestClient {
    func bind(
        _ session: SessionIdent = 1,
        _ partition: String = "\"store-42\"",
        needsFileIdent: Bool = true
    ) async throws {
        try await send(
            .bind(.init(session: session, path: Text(partition), needsFileIdent: needsFileIdent))
        )
    }

    func ident(
        _ session: SessionIdent = 1,
        _ file: SaltedFileIdent,
        at cursor: DownloadCursor = .zero,
        latest: SaltedServerVersion = .zero
    ) async throws {
        try await send(
            .ident(
                .init(session: session, file: file, download: cursor, latestServerVersion: latest)
            )
        )
    }

    func upload(
        _ changesets: [UploadChangeset],
        progress: UploadCursor? = nil,
        locked: UInt64 = 0,
        in session: SessionIdent = 1
    ) async throws {
        try await send(
            .upload(
                .init(
                    session: session,
                    progress: progress ?? changesets.last?.cursor ?? .zero,
                    lockedServerVersion: ServerVersion(locked),
                    changesets: changesets
                )
            )
        )
    }

    func expectIdent(_ session: SessionIdent = 1) async throws -> SaltedFileIdent {
        guard case .ident(session, let file)? = try await receive() else {
            throw Unexpected(wanted: "IDENT")
        }
        return file
    }

    func expectDownload(_ session: SessionIdent = 1) async throws -> ServerMessage.Download {
        switch try await receive() {
        case .download(let download)? where download.session == session: return download
        case let other: throw Unexpected(wanted: "DOWNLOAD", got: other)
        }
    }

    func expectError(session: SessionIdent?) async throws -> JSONErrorReport {
        switch try await receive() {
        case .jsonError(let report)? where report.session == session: return report
        case let other: throw Unexpected(wanted: "JSON_ERROR", got: other)
        }
    }

    /// The error of a session; a MARK or DOWNLOAD may have been under way before it.
    func expectErrorAfterDownloads(session: SessionIdent) async throws -> JSONErrorReport {
        while let message = try await receive() {
            switch message {
            case .mark, .download: continue
            case .jsonError(let report) where report.session == session: return report
            default: throw Unexpected(wanted: "JSON_ERROR", got: message)
            }
        }
        throw Unexpected(wanted: "JSON_ERROR")
    }

    /// Opens a session of a new file and takes its first DOWNLOAD.
    @discardableResult
    func start(
        _ session: SessionIdent = 1,
        _ partition: String = "\"store-42\""
    ) async throws -> (file: SaltedFileIdent, download: ServerMessage.Download) {
        try await bind(session, partition)
        let file = try await expectIdent(session)
        try await ident(session, file)
        return (file, try await expectDownload(session))
    }

    /// Binds a file that a client on another connection has bound, which ends that connection, and
    /// uploads to it.
    func takeOver(_ file: SaltedFileIdent, from old: TestClient) async throws {
        try await bind(needsFileIdent: false)
        try await ident(1, file)
        _ = try await expectDownload()
        #expect(try await old.receive() == nil)
        try await upload([ServerTests.upload(2, on: 0)])
        #expect(try await expectDownload().progress.upload == uploadCursor(2, 0))
    }

    /// Downloads until everything that exists is there; returns the last one.
    func catchUp(_ session: SessionIdent = 1, request: UInt64) async throws -> ServerMessage
        .Download?
    {
        try await send(.mark(session, RequestIdent(request)))
        var last: ServerMessage.Download?
        while let message = try await receive() {
            switch message {
            case .download(let download): last = download
            case .mark(session, RequestIdent(request)): return last
            default: throw Unexpected(wanted: "DOWNLOAD or MARK", got: message)
            }
        }
        throw Unexpected(wanted: "MARK")
    }

    struct Unexpected: Error, CustomStringConvertible {
        let wanted: String
        var got: ServerMessage?

        var description: String {
            "wanted \(wanted), got \(got.map { "\($0)" } ?? "the end")"
        }
    }
}
