import Changesets
import SyncProtocol
import Testing
import Transport
import Versions

/// Plays the client's part of a recording, and compares the answers.
struct Replay {
    let server: ReplayServer
    private var streams: [Int: InMemoryStream] = [:]
    /// Recorded salts and what they are in this run.
    private var fileSalts: [Salt: Salt] = [:]
    private var versionSalts: [Salt: Salt] = [Salt.none: Salt.none]
    /// Answers that came before their turn: sessions of one connection do not wait for each other.
    private var early: [Int: [ServerMessage]] = [:]
    /// The newest upload progress each session of a connection has sent.
    private var sent: [Int: [SessionIdent: UploadCursor]] = [:]

    init(server: ReplayServer) {
        self.server = server
    }

    mutating func connect(_ connection: Int) async throws {
        streams[connection] = server.connect()
    }

    mutating func disconnect(_ connection: Int) async {
        await streams.removeValue(forKey: connection)?.close(.normal, reason: "")
    }

    /// Sends the client's message, or awaits the server's. Returns the number of answers compared.
    mutating func play(_ line: RecordedLine) async throws -> Int {
        let stream = try #require(streams[line.conn])
        if line.dir == "c2s" {
            let context = WireContext(mode: .partitionBased, limits: .server)
            let recorded = try ClientMessage(decoding: line.bytes, context: context)
            if case .upload(let upload) = recorded {
                sent[line.conn, default: [:]][upload.session] = upload.progress
            }
            try await stream.send(mapped(recorded).encoded())
            return 0
        }
        let context = WireContext(mode: .partitionBased, limits: .client)
        let recorded = try ServerMessage(decoding: line.bytes, context: context)
        if case .logMessage = recorded { return 0 }
        let queue = early[line.conn] ?? []
        if let index = queue.firstIndex(where: { $0.session == recorded.session }) {
            let answer = early[line.conn]?.remove(at: index)
            try compare(#require(answer), with: recorded, on: line.conn)
            return 1
        }
        while let bytes = try await stream.receive() {
            let answer = try ServerMessage(decoding: bytes, context: context)
            if case .logMessage = answer { continue }
            guard answer.session == recorded.session else {
                early[line.conn, default: []].append(answer)
                continue
            }
            compare(answer, with: recorded, on: line.conn)
            return 1
        }
        Issue.record("the connection ended where \(recorded.name) was due")
        return 0
    }

    private func mapped(_ message: ClientMessage) -> ClientMessage {
        switch message {
        case .bind(let bind):
            let path = bind.path.description
            let isPartition = path.hasPrefix("/") && path.dropFirst().allSatisfy(\.isLetter)
            return .bind(
                .init(
                    session: bind.session,
                    path: isPartition ? Text("\"\(path)\"") : bind.path,
                    needsFileIdent: bind.needsFileIdent
                )
            )
        case .ident(let ident):
            let file = SaltedFileIdent(
                ident: ident.file.ident,
                salt: fileSalts[ident.file.salt] ?? ident.file.salt
            )
            let latest = SaltedServerVersion(
                version: ident.latestServerVersion.version,
                salt: versionSalts[ident.latestServerVersion.salt] ?? Salt(1)
            )
            return .ident(
                .init(
                    session: ident.session,
                    file: file,
                    download: ident.download,
                    latestServerVersion: latest
                )
            )
        case .query, .upload, .mark, .unbind, .ping, .jsonError, .testCommand:
            return message
        }
    }

    private mutating func compare(
        _ answer: ServerMessage,
        with recorded: ServerMessage,
        on connection: Int
    ) {
        switch (answer, recorded) {
        case (.ident(let session, let file), .ident(let recordedSession, let recordedFile)):
            #expect(session == recordedSession)
            #expect(file.ident == recordedFile.ident)
            fileSalts[recordedFile.salt] = file.salt
        case (.download(let download), .download(let expected)):
            let salt = download.progress.latestServerVersion.salt
            let recordedSalt = expected.progress.latestServerVersion.salt
            #expect(versionSalts[recordedSalt, default: salt] == salt)
            versionSalts[recordedSalt] = salt
            var progress = expected.progress
            progress.latestServerVersion = SaltedServerVersion(
                version: progress.latestServerVersion.version,
                salt: salt
            )
            // The header tells the newest acknowledgement, and another UPLOAD may have come by then.
            if download.progress.upload == sent[connection]?[download.session] {
                progress.upload = download.progress.upload
            }
            #expect(download.session == expected.session)
            #expect(download.progress == progress)
            #expect(download.extent == expected.extent)
            #expect(download.changesets == expected.changesets)
        case (.jsonError(let report), .error(let expected)):
            #expect(report.code == expected.code)
            #expect(report.session == expected.session)
            #expect(report.body.tryAgain == expected.tryAgain)
        default:
            #expect(answer == recorded)
        }
    }
}
