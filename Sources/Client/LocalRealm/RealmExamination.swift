internal import Glibc
internal import SQLite

/// The state of a realm file, read beside a running agent and without writing.
package struct RealmExamination: Hashable, Sendable {
    /// Tables, indexes and triggers of capture that are missing or changed: writes may be lost.
    package let alterations: [String]
    /// Applications' UNIQUE indexes on class tables, which remote rows could violate.
    package let uniqueIndexes: [String]
    /// `wal` unless a program changed it.
    package let journalMode: String
    /// 0 without a write-ahead log.
    package let logSizeInBytes: UInt64

    package init(
        alterations: [String],
        uniqueIndexes: [String],
        journalMode: String,
        logSizeInBytes: UInt64
    ) {
        self.alterations = alterations
        self.uniqueIndexes = uniqueIndexes
        self.journalMode = journalMode
        self.logSizeInBytes = logSizeInBytes
    }

    package static func read(path: String) throws(LocalRealmError) -> RealmExamination {
        try RealmFile.reading(path) { connection in
            var journalMode = ""
            if case .text(let mode)? = try connection.row("PRAGMA journal_mode")?.first {
                journalMode = mode
            }
            let findings = try connection.transaction(.deferred) {
                let catalogue = try CatalogueStore(connection: connection).load(options: [:])
                return try SchemaVerifier(connection: connection, catalogue: catalogue).verify()
            }
            return RealmExamination(
                alterations: findings.alterations + findings.repairable,
                uniqueIndexes: findings.uniqueIndexes,
                journalMode: journalMode,
                logSizeInBytes: size(of: "\(path)-wal")
            )
        }
    }

    private static func size(of path: String) -> UInt64 {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        return UInt64(max(0, lseek(descriptor, 0, SEEK_END)))
    }
}
