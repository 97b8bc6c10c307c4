import SQLite
import ServerStore
import Versions

extension SQLiteHistoryTransaction {
    func reciprocals(
        for ident: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [ServerVersion: [UInt8]] {
        try translating {
            let statement = try connection.statement(
                """
                SELECT version, changeset FROM reciprocal
                WHERE file_id = ? AND ident = ? AND version > ?
                """
            )
            defer { statement.reset() }
            try statement.bind([
                .integer(file.rawValue), .number(ident.rawValue), .number(version.rawValue),
            ])
            var changesets: [ServerVersion: [UInt8]] = [:]
            while try statement.step() {
                changesets[ServerVersion(statement.number(at: 0))] = statement.bytes(at: 1)
            }
            return changesets
        }
    }

    func reciprocal(
        of version: ServerVersion,
        for ident: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) -> [UInt8]? {
        try translating {
            let statement = try connection.statement(
                "SELECT changeset FROM reciprocal WHERE file_id = ? AND ident = ? AND version = ?"
            )
            defer { statement.reset() }
            try statement.bind([
                .integer(file.rawValue), .number(ident.rawValue), .number(version.rawValue),
            ])
            return try statement.step() ? statement.bytes(at: 0) : nil
        }
    }

    func putReciprocal(
        _ changeset: [UInt8],
        of version: ServerVersion,
        for ident: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) {
        try translating {
            try connection.run(
                "REPLACE INTO reciprocal (file_id, ident, version, changeset) VALUES (?, ?, ?, ?)",
                [
                    .integer(file.rawValue), .number(ident.rawValue), .number(version.rawValue),
                    .blob(changeset),
                ]
            )
        }
    }

    func removeReciprocals(
        for ident: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) throws(StoreError) {
        try translating {
            try connection.run(
                "DELETE FROM reciprocal WHERE file_id = ? AND ident = ? AND version <= ?",
                [.integer(file.rawValue), .number(ident.rawValue), .number(version.rawValue)]
            )
        }
    }
}
