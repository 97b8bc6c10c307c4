import Changesets
import PostgreSQL
import ServerStore

/// The records of imported objects.
extension PostgreSQLTransaction {
    /// `jsonb` keeps values (server on PostgreSQL, 5).
    var keepsSpelling: Bool { false }

    func importedRecords(
        of objects: [ObjectReference],
        in app: AppID
    ) throws(StoreError) -> [ImportedRecord?] {
        guard !objects.isEmpty else { return [] }
        try flushIfWriting()
        let rows = try runner.read(ImportedObjectRows.reading(objects.map(ObjectRow.init), of: app))
        return try ImportedObjectRows.records(rows, of: objects.count)
    }

    /// The order is that of the rows' keys, in which a long key is replaced by its digest.
    func forEachImportedRecord(
        of className: Text,
        in app: AppID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, ImportedRecord) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try flushIfWriting()
        var position = key.map { RowKey(storedKey: StoredKey.encode($0)).key } ?? []
        while true {
            let rows = try runner.read(
                ImportedObjectRows.readingPage(of: className, in: app, after: position)
            )
            for row in 0..<rows.count {
                let entry = try ImportedObjectRows.entry(rows, row, of: className)
                position = entry.row.key
                if try visit(entry.key, entry.record) == .stop { return }
            }
            guard rows.count == ImportedObjectRows.rowsAtOnce else { return }
        }
    }

    func put(_ changes: [ImportedRecordChange], in app: AppID) throws(StoreError) {
        guard !changes.isEmpty else { return }
        try runner.write(ImportedObjectRows.writing(changes, of: app))
    }

    func expectDocuments(
        _ objects: [ObjectReference],
        in file: ServerFileID
    ) throws(StoreError) {
        if access == .writing { try hold(file) }
        let documents = buffer[file].documents
        let unknown = objects.map(ObjectRow.init).filter { documents.content(of: $0) == nil }
        guard !unknown.isEmpty else { return }
        let rows = try runner.read(DocumentBuffer.reading(unknown, in: file.rawValue))
        try buffer.change(file) { buffer throws(StoreError) in
            try buffer.documents.note(rows, of: unknown)
        }
    }
}
