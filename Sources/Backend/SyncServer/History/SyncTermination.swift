import ServerStore
import Versions

/// Voids history and idents of all client files of an app; the objects stay (sync history, 17; app
/// services, 12.2).
///
/// Each file begins again with its state as history, made by the server. A client with an ident
/// from before must start over.
struct SyncTermination {
    let transaction: any StoreTransaction
    /// Milliseconds since 1970.
    let now: Int64

    func run(_ app: AppID) throws(StoreError) {
        for file in try transaction.files(of: app) {
            try restart(file)
        }
    }

    private func restart(_ old: ServerFile) throws(StoreError) {
        try transaction.removeHistory(of: old.id)
        var file = old
        file.generation += 1
        file.currentVersion = .zero
        file.baseVersion = .zero
        file.historySizeInBytes = 0
        file.snapshot = nil
        try transaction.update(file)
        var history = HistoryAppender(to: file, in: transaction, now: now)
        var state = FileState(of: file.id)
        while let changeset = try state.next(from: transaction) {
            try history.append(changeset, by: .server)
        }
        try history.flush()
    }
}
