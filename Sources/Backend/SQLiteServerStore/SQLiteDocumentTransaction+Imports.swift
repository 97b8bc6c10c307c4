import Changesets
import SQLite
import ServerStore

/// The records of imported objects.
extension SQLiteDocumentTransaction {
    var keepsSpelling: Bool { true }

    /// A row is a call away.
    func expectDocuments(
        _ objects: [ObjectReference],
        in file: ServerFileID
    ) throws(StoreError) {}

    func importedRecords(
        of objects: [ObjectReference],
        in app: AppID
    ) throws(StoreError) -> [ImportedRecord?] {
        try translating {
            let statement = try connection.statement(
                fixed: """
                    SELECT file_id, digest FROM imported_object
                    WHERE app_id = ? AND class = ? AND key = ?
                    """
            )
            var records: [ImportedRecord?] = []
            records.reserveCapacity(objects.count)
            let name = Array(app.rawValue.utf8)
            for object in objects {
                defer { statement.reset() }
                try bind(object, name, to: statement)
                guard try statement.step() else {
                    records.append(nil)
                    continue
                }
                records.append(
                    ImportedRecord(
                        file: ServerFileID(statement.integer(at: 0)),
                        digest: UInt64(bitPattern: statement.integer(at: 1))
                    )
                )
            }
            return records
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

    func put(_ changes: [ImportedRecordChange], in app: AppID) throws(StoreError) {
        try translating {
            let removal = try connection.statement(
                fixed: "DELETE FROM imported_object WHERE app_id = ? AND class = ? AND key = ?"
            )
            let addition = try connection.statement(
                fixed: """
                    REPLACE INTO imported_object (app_id, class, key, file_id, digest)
                    VALUES (?, ?, ?, ?, ?)
                    """
            )
            let name = Array(app.rawValue.utf8)
            for (object, record) in changes {
                guard let record else {
                    try bind(object, name, to: removal)
                    try removal.run()
                    continue
                }
                try bind(object, name, to: addition)
                try addition.bind(record.file.rawValue, at: 4)
                try addition.bind(Int64(bitPattern: record.digest), at: 5)
                try addition.run()
            }
        }
    }

    private func bind(
        _ object: ObjectReference,
        _ app: [UInt8],
        to statement: Statement
    ) throws(SQLiteError) {
        try statement.bind(text: app, at: 1)
        try statement.bind(text: object.className.bytes, at: 2)
        try statement.bind(blob: StoredKey.encode(object.key), at: 3)
    }
}
