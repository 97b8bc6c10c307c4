import Changesets
import PostgreSQL
import ServerStore

/// The table `imported_object`, which stores of earlier versions may lack.
enum ImportedObjectRows {
    /// The records of objects with their positions, from 1; those without a record are missing.
    static func reading(_ rows: [ObjectRow], of app: AppID) -> Step {
        Step(
            """
            SELECT u.position, o.file_id, o.digest
            FROM unnest($2::text[], $3::bytea[]) WITH ORDINALITY u(class, key, position)
            CROSS JOIN LATERAL (
                SELECT file_id, digest FROM imported_object
                WHERE app_id = $1 AND class = u.class AND key = u.key
                OFFSET 0
            ) o
            """,
            [
                .string(app.rawValue), .texts(rows.map(\.className)),
                .byteStrings(rows.map(\.key.key)),
            ]
        )
    }

    static func records(
        _ found: StoredRows,
        of count: Int
    ) throws(StoreError) -> [ImportedRecord?] {
        var records = [ImportedRecord?](repeating: nil, count: count)
        for row in 0..<found.count {
            let position = try found.integer(row, 0)
            guard position >= 1, position <= count else {
                throw .damaged("a record of an import was found that was not asked for")
            }
            records[Int(position) - 1] = try record(found, row, at: 1)
        }
        return records
    }

    private static func record(
        _ rows: StoredRows,
        _ row: Int,
        at column: Int
    ) throws(StoreError) -> ImportedRecord {
        ImportedRecord(
            file: ServerFileID(try rows.integer(row, column)),
            digest: UInt64(bitPattern: try rows.integer(row, column + 1))
        )
    }

    static let rowsAtOnce = 4096

    /// The next records of a class, by the keys of their rows.
    static func readingPage(
        of className: Text,
        in app: AppID,
        after key: [UInt8]
    ) -> Step {
        Step(
            """
            SELECT key, long_key, file_id, digest FROM imported_object
            WHERE app_id = $1 AND class = $2 AND key > $3 ORDER BY key LIMIT $4
            """,
            [
                .string(app.rawValue), .text(className.bytes), .bytes(key),
                .integer(Int64(rowsAtOnce)),
            ]
        )
    }

    static func entry(
        _ rows: StoredRows,
        _ row: Int,
        of className: Text
    ) throws(StoreError) -> (row: RowKey, key: ObjectKey, record: ImportedRecord) {
        let columns = RowKey(
            key: try rows.bytes(row, 0),
            longKey: try rows.optionalBytes(row, 1)
        )
        guard let columns, let key = StoredKey.decode(columns.storedKey) else {
            throw .damaged("a key of an imported \(className)")
        }
        return (columns, key, try record(rows, row, at: 2))
    }

    static func writing(_ changes: [ImportedRecordChange], of app: AppID) -> [Step] {
        let rows = changes.map { (row: ObjectRow($0.object), record: $0.record) }
        let removed = rows.filter { $0.record == nil }.map(\.row)
        let written = rows.compactMap { row, record in record.map { (row: row, record: $0) } }
        return (removed.isEmpty ? [] : [removal(of: removed, of: app)])
            + (written.isEmpty ? [] : [insertion(of: written, of: app)])
    }

    private static func insertion(
        of written: [(row: ObjectRow, record: ImportedRecord)],
        of app: AppID
    ) -> Step {
        Step(
            """
            INSERT INTO imported_object (app_id, class, key, long_key, file_id, digest)
            SELECT $1, u.* FROM unnest($2::text[], $3::bytea[], $4::bytea[], $5::int8[], $6::int8[]) u
            ON CONFLICT (app_id, class, key)
                DO UPDATE SET file_id = excluded.file_id, digest = excluded.digest
            """,
            [
                .string(app.rawValue), .texts(written.map(\.row.className)),
                .byteStrings(written.map(\.row.key.key)),
                .byteStrings(written.map(\.row.key.longKey)),
                .integers(written.map(\.record.file.rawValue)),
                .integers(written.map { Int64(bitPattern: $0.record.digest) }),
            ]
        )
    }

    private static func removal(of rows: [ObjectRow], of app: AppID) -> Step {
        Step(
            """
            DELETE FROM imported_object WHERE ctid = ANY (ARRAY(
                SELECT o.ctid FROM unnest($2::text[], $3::bytea[]) u(class, key)
                CROSS JOIN LATERAL (
                    SELECT ctid FROM imported_object
                    WHERE app_id = $1 AND class = u.class AND key = u.key
                    OFFSET 0
                ) o
            ))
            """,
            [
                .string(app.rawValue), .texts(rows.map(\.className)),
                .byteStrings(rows.map(\.key.key)),
            ]
        )
    }

    /// Whether the store has the table.
    static let presence = Step("SELECT to_regclass('imported_object') IS NOT NULL")

    static func removal(of app: AppID) -> Step {
        Step("DELETE FROM imported_object WHERE app_id = $1", [.string(app.rawValue)])
    }
}
