import Changesets
import SyncProtocol
import Transport
import Versions

/// A client that receives, counts, and keeps nothing.
final class Client {
    private let stream: InMemoryStream
    private let server: Task<Void, Never>
    private let context = WireContext(mode: .flexible, limits: .client)
    private var version: UInt64 = 1
    private var base = ServerVersion.zero

    struct Unexpected: Error {
        let message: String
    }

    init(_ stream: InMemoryStream, _ server: Task<Void, Never>) {
        self.stream = stream
        self.server = server
    }

    deinit {
        stream.cut()
        server.cancel()
    }

    /// Binds a new file, and subscribes to the objects of a store, or to none.
    ///
    /// - Parameter onMessage: gets the number of objects so far, with each message of the bootstrap.
    func begin(store: Int?, _ onMessage: (Int) -> Void = { _ in }) async throws {
        try await send(.bind(.init(session: 1, path: Self.binding, needsFileIdent: true)))
        guard case .ident(1, let file) = try await receive() else {
            throw Unexpected(message: "wanted IDENT")
        }
        let empty = ClientMessage.Query(version: QueryVersion(0), body: "{}")
        try await send(
            .ident(
                .init(
                    session: 1,
                    file: file,
                    download: .zero,
                    latestServerVersion: .zero,
                    query: empty
                )
            )
        )
        _ = try await download()
        // The writer sees what it writes, and receives nothing of it.
        let condition = store.map { "store == '\($0)'" } ?? "TRUEPREDICATE"
        let body = #"{"Order":"(\#(condition))"}"#
        try await send(.query(1, .init(version: QueryVersion(1), body: Text(body))))
        try await send(.mark(1, RequestIdent(1)))
        var objects = 0
        while true {
            switch try await receive() {
            case .download(let download):
                objects += download.changesets.reduce(0) { $0 + Self.creations(in: $1) }
                base = download.progress.download.serverVersion
                onMessage(objects)
            case .mark: return
            case let other:
                throw Unexpected(message: "wanted DOWNLOAD, got \(String(describing: other))")
            }
        }
    }

    private static let binding: Text = #"{"schemaVersion":0,"sessionReason":0}"#

    private static func creations(in changeset: DownloadChangeset) -> Int {
        guard let changeset = try? Changeset(decoding: changeset.bytes) else { return 0 }
        return changeset.instructions.count {
            if case .createObject = $0 { true } else { false }
        }
    }

    /// Creates objects, or changes the store of existing ones, in one changeset.
    func upload(_ objects: [(key: Int, store: Int)]) async throws {
        var writer = ChangesetWriter()
        for (key, store) in objects {
            let object = ObjectReference(className: World.className, key: .int(Int64(key)))
            writer.createObject(object)
            writer.update(object, "store", to: .scalar(.string(Text("\(store)"))))
            writer.update(object, "level", to: .scalar(.int(Int64(key))))
            writer.update(object, "note", to: .scalar(.string("thirty characters of some note")))
        }
        version += 1
        let cursor = UploadCursor(
            clientVersion: ClientVersion(version),
            lastIntegratedServerVersion: base
        )
        try await send(
            .upload(
                .init(
                    session: 1,
                    progress: cursor,
                    lockedServerVersion: .zero,
                    changesets: [
                        UploadChangeset(
                            cursor: cursor,
                            originTimestamp: OriginTimestamp(1000 + version),
                            originFileIdent: .none,
                            bytes: writer.bytes
                        )
                    ]
                )
            )
        )
    }

    func expectAcknowledgement() async throws {
        while try await download().progress.upload.clientVersion < ClientVersion(version) {}
    }

    /// Waits for a DOWNLOAD with changes.
    func expectChanges() async throws {
        while try await download().changesets.isEmpty {}
    }

    private func download() async throws -> ServerMessage.Download {
        let message = try await receive()
        guard case .download(let download)? = message else {
            throw Unexpected(message: "wanted DOWNLOAD, got \(String(describing: message))")
        }
        base = download.progress.download.serverVersion
        return download
    }

    private func send(_ message: ClientMessage) async throws {
        try await stream.send(message.encoded())
    }

    private func receive() async throws -> ServerMessage? {
        while let bytes = try await stream.receive() {
            let message = try ServerMessage(decoding: bytes, context: context)
            if case .logMessage = message { continue }
            return message
        }
        return nil
    }
}
