import Changesets
import SQLite
import ServerStore

/// The records of imported objects.
extension SQLiteTransaction {
    func importedRecord(
        of object: ObjectReference,
        in app: AppID
    ) throws(StoreError) -> ImportedRecord? {
        try translating {
            let statement = try connection.statement(
                fixed: """
                    SELECT file_id, digest FROM imported_object
                    WHERE app_id = ? AND class = ? AND key = ?
                    """
            )
            defer { statement.reset() }
            try bind(object, app, to: statement)
            guard try statement.step() else { return nil }
            return ImportedRecord(
                file: ServerFileID(statement.integer(at: 0)),
                digest: UInt64(bitPattern: statement.integer(at: 1))
            )
        }
    }

    func forEachImportedRecord(
        of className: Text,
        in app: AppID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, ImportedRecord) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try translating {
            let statement = try connection.statement(
                """
                SELECT key, file_id, digest FROM imported_object
                WHERE app_id = ? AND class = ? AND key > ? ORDER BY key
                """
            )
            defer { statement.reset() }
            try statement.bind(text: Array(app.rawValue.utf8), at: 1)
            try statement.bind(text: className.bytes, at: 2)
            // No key is empty.
            try statement.bind(blob: key.map { StoredKey.encode($0) } ?? [], at: 3)
            while try statement.step() {
                guard let key = StoredKey.decode(statement.bytes(at: 0)) else {
                    throw damaged("a key of an imported \(className)")
                }
                let record = ImportedRecord(
                    file: ServerFileID(statement.integer(at: 1)),
                    digest: UInt64(bitPattern: statement.integer(at: 2))
                )
                if try visit(key, record) == .stop { return }
            }
        }
    }

    func put(
        _ record: ImportedRecord?,
        of object: ObjectReference,
        in app: AppID
    ) throws(StoreError) {
        try translating {
            guard let record else {
                let statement = try connection.statement(
                    fixed: "DELETE FROM imported_object WHERE app_id = ? AND class = ? AND key = ?"
                )
                try bind(object, app, to: statement)
                return try statement.run()
            }
            let statement = try connection.statement(
                fixed: """
                    REPLACE INTO imported_object (app_id, class, key, file_id, digest)
                    VALUES (?, ?, ?, ?, ?)
                    """
            )
            try bind(object, app, to: statement)
            try statement.bind(record.file.rawValue, at: 4)
            try statement.bind(Int64(bitPattern: record.digest), at: 5)
            try statement.run()
        }
    }

    private func bind(
        _ object: ObjectReference,
        _ app: AppID,
        to statement: Statement
    ) throws(SQLiteError) {
        try statement.bind(text: Array(app.rawValue.utf8), at: 1)
        try statement.bind(text: object.className.bytes, at: 2)
        try statement.bind(blob: StoredKey.encode(object.key), at: 3)
    }
}
