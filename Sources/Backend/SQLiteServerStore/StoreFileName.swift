import SQLite
import ServerStore

/// The name of an open store's file, and the file that had it when it was opened.
struct StoreFileName: Sendable {
    private let path: String
    private let identity: FileIdentity?

    init(path: String) {
        self.path = path
        self.identity = FileIdentity(path: path)
    }

    /// Throws if the name is gone, or another file has it: writes into the open file would be lost.
    func requireSameFile() throws(StoreError) {
        guard let identity, FileIdentity(path: path) != identity else { return }
        throw StoreError(
            .replaced,
            "\(path): the file was removed, moved or replaced while it is in use"
        )
    }
}
