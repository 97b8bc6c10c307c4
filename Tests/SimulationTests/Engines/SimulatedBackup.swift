import FoundationEssentials
import Glibc
import SQLite

/// A copy of a database as an operator makes and restores it.
struct SimulatedBackup: Sendable {
    let path: String

    /// The way in which a copy replaces the file.
    enum Restoration: CaseIterable, Sendable {
        /// By another file: `mv`, or a restore into an empty directory.
        case byAnother
        /// By other contents of the same file: `cp` onto it.
        case inPlace
    }

    /// Copies the committed content, even while the file is open.
    init(of database: String, to path: String, vfs: String) throws {
        // An earlier copy stays until there is another.
        let new = path + ".new"
        unlink(new)
        let connection = try Connection(path: database, .init(mode: .readWrite, vfs: vfs))
        defer { connection.close() }
        try connection.run("VACUUM INTO ?1", [.text(new)])
        guard rename(new, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        self.path = path
    }

    /// The file must not be open.
    func restore(to database: String, _ way: Restoration) throws {
        for suffix in ["-wal", "-shm"] { unlink(database + suffix) }
        let contents = try Data(contentsOf: URL(filePath: path))
        switch way {
        case .byAnother:
            // The old file stays until the new one exists, so they have different inodes.
            let new = database + ".new"
            try contents.write(to: URL(filePath: new))
            guard rename(new, database) == 0 else { throw CocoaError(.fileWriteUnknown) }
        case .inPlace:
            try contents.write(to: URL(filePath: database))
        }
    }
}
