import ServerStore
import SyncProtocol
import Synchronization
import Versions

/// Growth of files that a connection has yet to handle. The tasks that append history fill it, and do not
/// wait for the connection.
struct PendingGrowth: ~Copyable, Sendable {
    /// The sessions that growth concerns: those of a file, or one of them.
    fileprivate struct Audience: Hashable {
        let file: ServerFileID
        let ident: FileIdent?
    }

    struct Grown {
        fileprivate var newest: [Audience: ServerVersion] = [:]

        /// The newest version of a file that a client was told of; nil if of none.
        func newest(of file: ServerFileID, for client: FileIdent) -> ServerVersion? {
            let all = newest[Audience(file: file, ident: nil)]
            return [all, newest[Audience(file: file, ident: client)]].compactMap(\.self).max()
        }
    }

    private let pending = Mutex(Grown())

    /// Returns true if nothing else is pending.
    func note(_ file: ServerFileID, only ident: FileIdent?, _ version: ServerVersion) -> Bool {
        let audience = Audience(file: file, ident: ident)
        return pending.withLock { pending in
            let isFirst = pending.newest.isEmpty
            pending.newest[audience] = max(pending.newest[audience] ?? .zero, version)
            return isFirst
        }
    }

    func take() -> Grown {
        pending.withLock { pending in
            defer { pending = Grown() }
            return pending
        }
    }
}
