import SyncProtocol
import Versions

/// The first byte selects the mode.
enum MessageInput {
    static func runClient(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let context = context(first, .server)
        guard let message = try? ClientMessage(decoding: Array(bytes.dropFirst()), context: context)
        else { return }
        let encoded = message.encoded()
        let again = try? ClientMessage(decoding: encoded, context: context)
        check(again == message, "a message of a client is another one when it is read again")
    }

    static func runServer(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let context = context(first, .client)
        guard let message = try? ServerMessage(decoding: Array(bytes.dropFirst()), context: context)
        else { return }
        _ = message.encoded()
    }

    private static func context(_ byte: UInt8, _ limits: Limits) -> WireContext {
        WireContext(mode: byte % 2 == 0 ? .partitionBased : .flexible, limits: limits)
    }
}

/// The first byte selects mode and version; then messages, each behind two bytes with its length.
enum ConnectionInput {
    static func run(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let mode: SyncMode = first % 2 == 0 ? .partitionBased : .flexible
        var connection = ServerConnection(
            subProtocol: SubProtocol(mode: mode, version: 4 + Int(first >> 1) % 11),
            appMode: mode
        )
        answer(connection.opened(connectionID: "1"), &connection)
        var rest = bytes.dropFirst()
        while rest.count > 2 {
            let length = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
            answer(connection.received(Array(rest.prefix(length))), &connection)
            rest = rest.dropFirst(length)
        }
    }

    /// The store is empty: it opens everything, and has nothing to send.
    private static func answer(
        _ effects: [ServerConnection.Effect],
        _ connection: inout ServerConnection
    ) {
        var waiting = effects
        var steps = 0
        while !waiting.isEmpty {
            steps += 1
            check(steps < 10_000, "a message causes work without end")
            switch waiting.removeFirst() {
            case .send(let message): _ = message.encoded()
            case .work(let key, .open(_, let needsFileIdent)):
                let file = SaltedFileIdent(ident: FileIdent(2), salt: Salt(7))
                waiting += connection.opened(key, assigned: needsFileIdent ? file : nil)
            case .work(let key, .validate):
                waiting += connection.identified(key, upload: .zero, locked: .zero)
            case .work(let key, .integrate):
                waiting += connection.historyGrew(key, to: ServerVersion(1))
            case .work(let key, .scanDownload(let cursor)):
                let latest = SaltedServerVersion(version: cursor.serverVersion, salt: Salt(0))
                waiting += connection.scanned(
                    key,
                    ServerSession.Scanned(
                        changesets: [],
                        progress: SyncProgress(
                            latestServerVersion: latest,
                            download: cursor,
                            upload: .zero
                        ),
                        downloadableBytes: 0
                    )
                )
            case .work(let key, .subscribe(let query)):
                _ = connection.beginSubscription(key)
                waiting += connection.refused(key, query.version, message: "refused")
            case .ended, .close: break
            }
        }
    }
}
