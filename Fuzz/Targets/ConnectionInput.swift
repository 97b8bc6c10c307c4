import SyncProtocol
import Versions

/// The first byte selects mode and version; then messages, each behind two bytes with its length.
///
/// The store behind the connection opens everything, and its history has nothing for the client.
struct ConnectionInput {
    private var connection: ServerConnection
    /// The end of the history, which the first upload moves.
    private var end = ServerVersion.zero

    private init(mode: SyncMode, version: Int) {
        connection = ServerConnection(
            subProtocol: SubProtocol(mode: mode, version: version),
            appMode: mode
        )
    }

    static func run(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let first = bytes.first else { return }
        var input = ConnectionInput(
            mode: first % 2 == 0 ? .partitionBased : .flexible,
            version: 4 + Int(first >> 1) % 11
        )
        input.carryOut(input.connection.opened(connectionID: "1"), &claims)
        var rest = bytes.dropFirst()
        while rest.count > 2 {
            let length = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
            input.carryOut(input.connection.received(Array(rest.prefix(length))), &claims)
            rest = rest.dropFirst(length)
        }
    }

    private mutating func carryOut(_ effects: [ServerConnection.Effect], _ claims: inout Claims) {
        var waiting = effects
        var steps = 0
        while !waiting.isEmpty {
            steps += 1
            guard steps < 10_000 else {
                return claims.check(false, "a message causes work without end")
            }
            waiting += answer(waiting.removeFirst())
        }
    }

    private mutating func answer(_ effect: ServerConnection.Effect) -> [ServerConnection.Effect] {
        switch effect {
        case .send(let message):
            _ = message.encoded()
            return []
        case .work(let key, .open(_, let needsFileIdent)):
            let file = SaltedFileIdent(ident: FileIdent(2), salt: Salt(7))
            return connection.opened(key, assigned: needsFileIdent ? file : nil)
        case .work(let key, .validate):
            return connection.identified(key, upload: .zero, locked: .zero)
        case .work(let key, .integrate):
            end = ServerVersion(1)
            return connection.historyGrew(key, to: end)
        case .work(let key, .scanDownload(let cursor)):
            return connection.scanned(key, scanned(from: cursor))
        case .work(let key, .subscribe(let query)):
            _ = connection.beginSubscription(key)
            return connection.refused(key, query.version, message: "refused")
        case .ended, .close: return []
        }
    }

    private func scanned(from cursor: DownloadCursor) -> ServerSession.Scanned {
        let latest = max(cursor.serverVersion, end)
        return ServerSession.Scanned(
            changesets: [],
            progress: SyncProgress(
                latestServerVersion: SaltedServerVersion(version: latest, salt: Salt(0)),
                download: DownloadCursor(
                    serverVersion: latest,
                    lastIntegratedClientVersion: cursor.lastIntegratedClientVersion
                ),
                upload: .zero
            ),
            downloadableBytes: 0
        )
    }
}
