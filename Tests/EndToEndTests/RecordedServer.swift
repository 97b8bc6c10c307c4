import Changesets
import Documents
import ScriptedPeers
import SyncProtocol
import TestSupport
import Transport
import Versions

/// Plays the server of a recorded conversation to a real client, and checks that the client sends what
/// the recorded one sent.
///
/// Two programs number the same things differently, so a table translates the recording:
///
/// - a session ident is translated to the ident with which our client bound the session;
/// - a client version is translated to the one that our client gave to the same changeset, or reached
///   with the same UPLOAD: the reference also commits when it has nothing to upload;
/// - the changesets of an UPLOAD are compared by the text of their instructions, in order. Each side
///   numbers the strings in its own order, and our client sends a schema with the first data that
///   needs it. Setting a new object's property to its initial value (here `false` and 0) is not a
///   write for us;
/// - origin timestamps are those of the run, and only have to ascend.
///
/// MARKs are answered as they come. The recorded program requested its MARKs at times of its own; for
/// every client, a session's first MARK precedes its first UPLOAD. UPLOADs without changesets only
/// report how far the client has scanned, at times of its own: their cursors are checked, not their
/// number. After an error the server ignores everything but UNBIND.
actor RecordedServer {
    private let scenario: WireScenario
    /// Actions to run before the recorded message of that number.
    private let events: [Int: @Sendable () async throws -> Void]
    private var connections: [Int]

    private var sessions: [SessionIdent: SessionIdent] = [:]
    private var versions: [ClientVersion: ClientVersion] = [.zero: .zero]
    private var ended: Set<SessionIdent> = []
    private var marked: Set<SessionIdent> = []
    private var lastTimestamp = OriginTimestamp(0)

    /// Messages of our client that were as recorded.
    private(set) var matchCount = 0
    private(set) var faults: [String] = []
    var isOver: Bool { connections.isEmpty && !isPlaying }
    private var isPlaying = false

    init(_ scenario: WireScenario, events: [Int: @Sendable () async throws -> Void]) {
        self.scenario = scenario
        self.events = events
        self.connections = scenario.connections
    }

    /// Plays the next recorded connection; none is open beside it.
    func play(_ stream: any MessageStream) async throws {
        guard !connections.isEmpty, !isPlaying else { return }
        isPlaying = true
        defer { isPlaying = false }
        let connection = connections.removeFirst()
        for line in scenario.binaryLines where line.conn == connection {
            do {
                try await events[line.seq]?()
                switch line.dir {
                case .fromClient:
                    try await expect(
                        ClientMessage(decoding: line.bytes, context: .partitionServer),
                        stream,
                        line
                    )
                case .fromServer:
                    try await send(
                        ServerMessage(decoding: line.bytes, context: .partitionClient),
                        stream
                    )
                }
            } catch {
                faults.append("\(scenario.name) \(line.seq): \(error)")
                connections = []
                return
            }
        }
        guard connections.isEmpty else { return }
        // The client still needs responses until it disconnects.
        isPlaying = false
        while try await receive(stream) != nil {}
    }
}

// MARK: What the server says

extension RecordedServer {
    private func send(_ message: ServerMessage, _ stream: any MessageStream) async throws {
        switch message {
        case .mark: return
        case .error(let report): ended.insert(try session(report.session))
        case .jsonError(let report): ended.insert(try session(report.session))
        default: break
        }
        try await stream.send(try translate(message).encoded())
    }

    private func translate(_ message: ServerMessage) throws -> ServerMessage {
        switch message {
        case .ident(let session, let file): return .ident(try self.session(session), file)
        case .unbound(let session): return .unbound(try self.session(session))
        case .download(let download):
            var progress = download.progress
            progress.download = DownloadCursor(
                serverVersion: progress.download.serverVersion,
                lastIntegratedClientVersion: try version(
                    progress.download.lastIntegratedClientVersion
                )
            )
            progress.upload = UploadCursor(
                clientVersion: try version(progress.upload.clientVersion),
                lastIntegratedServerVersion: progress.upload.lastIntegratedServerVersion
            )
            return .download(
                ServerMessage.Download(
                    session: try session(download.session),
                    progress: progress,
                    extent: download.extent,
                    changesets: download.changesets
                )
            )
        case .jsonError(let report):
            let body = ServerMessage.jsonError(report).encoded()
            return try ServerMessage(
                decoding: Self.renumbered(body, try session(report.session)),
                context: .partitionClient
            )
        case .error, .mark, .queryError, .pong, .logMessage, .testCommand: return message
        }
    }

    /// The same JSON_ERROR for another session: its head line ends in the number.
    private static func renumbered(_ bytes: [UInt8], _ session: SessionIdent) -> [UInt8] {
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        let head = bytes[..<end]
        let start = head.lastIndex(of: UInt8(ascii: " ")).map { $0 + 1 } ?? end
        return Array(bytes[..<start]) + Array("\(session.rawValue)".utf8) + Array(bytes[end...])
    }

    private func session(_ recorded: SessionIdent?) throws -> SessionIdent {
        guard let recorded, let session = sessions[recorded] else {
            throw Difference("no session corresponds to \(String(describing: recorded))")
        }
        return session
    }

    private func version(_ recorded: ClientVersion) throws -> ClientVersion {
        guard let version = versions[recorded] else {
            throw Difference("no version corresponds to \(recorded)")
        }
        return version
    }
}

// MARK: What the client says

extension RecordedServer {
    struct Difference: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    private func expect(
        _ recorded: ClientMessage,
        _ stream: any MessageStream,
        _ line: WireScenario.Line
    ) async throws {
        switch recorded {
        case .mark, .ping: return
        case .upload(let upload) where upload.changesets.isEmpty: return
        default: break
        }
        while true {
            guard let message = try await receive(stream) else {
                throw Difference("the client has left before \(recorded.name)")
            }
            if case .upload(let upload) = message, upload.changesets.isEmpty { continue }
            try match(message, recorded)
            matchCount += 1
            return
        }
    }

    /// The next message that has to be looked at.
    private func receive(_ stream: any MessageStream) async throws -> ClientMessage? {
        while let bytes = try await stream.receive() {
            let message = try ClientMessage(decoding: bytes, context: .partitionServer)
            if let session = message.session, ended.contains(session) {
                guard case .unbind = message else { continue }
                return message
            }
            switch message {
            case .ping(let ping):
                let pong = ServerMessage.pong(timestampInMilliseconds: ping.timestampInMilliseconds)
                try await stream.send(pong.encoded())
            case .mark(let session, let request):
                marked.insert(session)
                try await stream.send(ServerMessage.mark(session, request).encoded())
            case .upload(let upload):
                guard marked.contains(upload.session) else {
                    throw Difference("an UPLOAD before the session's first MARK")
                }
                return message
            default: return message
            }
        }
        return nil
    }

    private func match(_ message: ClientMessage, _ recorded: ClientMessage) throws {
        switch (message, recorded) {
        case (.bind(let bind), .bind(let expected)):
            guard bind.path == expected.path, bind.needsFileIdent == expected.needsFileIdent else {
                throw Difference("\(bind) for \(expected)")
            }
            guard sessions.values.allSatisfy({ $0 != bind.session }) || bind.session.rawValue == 1
            else { throw Difference("the session \(bind.session) is bound again") }
            sessions[expected.session] = bind.session
            ended.remove(bind.session)
            marked.remove(bind.session)
        case (.ident(let ident), .ident(let expected)):
            let wanted = ClientMessage.Ident(
                session: try session(expected.session),
                file: expected.file,
                download: DownloadCursor(
                    serverVersion: expected.download.serverVersion,
                    lastIntegratedClientVersion: try version(
                        expected.download.lastIntegratedClientVersion
                    )
                ),
                latestServerVersion: expected.latestServerVersion
            )
            guard ident == wanted else { throw Difference("\(ident) for \(wanted)") }
        case (.upload(let upload), .upload(let expected)):
            try match(upload, expected)
        case (.unbind(let unbound), .unbind(let expected)):
            guard unbound == (try session(expected)) else {
                throw Difference("UNBIND of \(unbound) for \(expected)")
            }
        default:
            throw Difference("\(message) for \(recorded)")
        }
    }

    private func match(_ upload: ClientMessage.Upload, _ expected: ClientMessage.Upload) throws {
        guard upload.session == (try session(expected.session)),
            upload.progress.lastIntegratedServerVersion
                == expected.progress.lastIntegratedServerVersion,
            upload.lockedServerVersion == expected.lockedServerVersion
        else { throw Difference("\(upload) for \(expected)") }
        guard
            try Self.form(of: upload.changesets) == Self.form(of: expected.changesets),
            let base = expected.changesets.first?.cursor.lastIntegratedServerVersion
        else { throw Difference("\(upload) for \(expected)") }
        for changeset in upload.changesets {
            guard changeset.cursor.lastIntegratedServerVersion == base,
                changeset.originFileIdent == .none, changeset.originTimestamp >= lastTimestamp
            else { throw Difference("\(changeset) on \(base)") }
            lastTimestamp = changeset.originTimestamp
        }
        if let last = upload.changesets.last, let other = expected.changesets.last {
            try note(last.cursor.clientVersion, for: other.cursor.clientVersion)
        }
        try note(upload.progress.clientVersion, for: expected.progress.clientVersion)
    }

    /// The text of an UPLOAD's instructions, in order.
    private static func form(of uploads: [UploadChangeset]) throws -> [JSONNode] {
        try uploads.map { upload in
            VectorInstructionForm.instructions(
                of: withoutDefaults(try Changeset(decoding: upload.bytes))
            )
        }.flatMap { node in
            guard case .array(let instructions) = node else { return [node] }
            return instructions
        }
    }

    private static func withoutDefaults(_ changeset: Changeset) -> Changeset {
        var changeset = changeset
        changeset.instructions.removeAll { instruction in
            guard case .update(let update) = instruction else { return false }
            return [.bool(false), .int(0)].contains(update.payload)
        }
        return changeset
    }

    /// The table ascends on both sides.
    private func note(_ version: ClientVersion, for recorded: ClientVersion) throws {
        let fits = versions.allSatisfy { recordedBefore, before in
            recordedBefore < recorded
                ? before <= version : recordedBefore > recorded || before == version
        }
        guard fits else { throw Difference("the version \(version) for \(recorded)") }
        versions[recorded] = version
    }
}
