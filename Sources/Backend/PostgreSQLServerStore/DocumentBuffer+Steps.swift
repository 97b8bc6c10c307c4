package import PostgreSQL
import ServerStore

extension DocumentBuffer {
    /// The size of one statement.
    private static let rowsAtOnce = 10_000
    private static let bytesAtOnce = 16 << 20

    // MARK: Reading

    /// Reads the documents of many objects of one file: each row by its key, with any statistics. Those
    /// beyond 16 MiB as stored are NULL.
    package static func reading(_ rows: [ObjectRow], in file: Int64) -> Step {
        Step(
            """
            SELECT u.position, CASE
                WHEN sum(pg_column_size(o.document)) OVER (ORDER BY u.position) <= 16777216
                THEN o.document END
            FROM unnest($2::text[], $3::bytea[]) WITH ORDINALITY u(class, key, position)
            CROSS JOIN LATERAL (
                SELECT document FROM object
                WHERE file_id = $1 AND class = u.class AND key = u.key
                OFFSET 0
            ) o
            """,
            [
                .integer(file), .texts(rows.map(\.className)),
                .byteStrings(rows.map(\.key.key)),
            ]
        )
    }

    /// Remembers the rows of that step; the objects without a row are absent.
    mutating func note(_ found: StoredRows, of rows: [ObjectRow]) throws(StoreError) {
        var contents = [Content?](repeating: .absent, count: rows.count)
        for index in 0..<found.count {
            let position = try found.integer(index, 0)
            guard position >= 1, position <= rows.count else {
                throw .damaged("a document was found that was not asked for")
            }
            contents[Int(position) - 1] = try found.optionalBytes(index, 1).map { .document($0) }
        }
        for (row, content) in zip(rows, contents) {
            if let content { note(content, of: row) }
        }
    }

    // MARK: Writing

    /// The statements that write the changes into the tables of a file whose row is locked.
    package func steps(in file: Int64) -> [Step] {
        var steps: [Step] = []
        var portion = Portion()
        for (row, content) in changes {
            let size = portion.sizeInBytes + portion.size(of: row, content)
            if portion.count > 0, portion.count == Self.rowsAtOnce || size > Self.bytesAtOnce {
                steps += portion.steps(in: file)
                portion = Portion()
            }
            portion.append(row, content)
        }
        return steps + portion.steps(in: file)
    }

    /// Rows that share a statement for what is written, and one for what is removed.
    private struct Portion {
        private var removed: [ObjectRow] = []
        private var written: [ObjectRow] = []
        private var documents: [[UInt8]] = []
        private(set) var sizeInBytes = 0

        var count: Int { removed.count + written.count }

        func size(of row: ObjectRow, _ content: Content) -> Int {
            let key = row.className.count + row.key.key.count + (row.key.longKey?.count ?? 0)
            return switch content {
            case .document(let document): key + document.count
            case .absent: key
            }
        }

        mutating func append(_ row: ObjectRow, _ content: Content) {
            sizeInBytes += size(of: row, content)
            switch content {
            case .absent: removed.append(row)
            case .document(let document):
                written.append(row)
                documents.append(document)
            }
        }

        func steps(in file: Int64) -> [Step] {
            (removed.isEmpty ? [] : [removal(in: file)])
                + (written.isEmpty ? [] : [insertion(in: file)])
        }

        /// Rows are found one by one by their keys: a join could read the whole class.
        private func removal(in file: Int64) -> Step {
            Step(
                """
                DELETE FROM object WHERE ctid = ANY (ARRAY(
                    SELECT o.ctid FROM unnest($2::text[], $3::bytea[]) u(class, key)
                    CROSS JOIN LATERAL (
                        SELECT ctid FROM object
                        WHERE file_id = $1 AND class = u.class AND key = u.key
                        OFFSET 0
                    ) o
                ))
                """,
                [
                    .integer(file), .texts(removed.map(\.className)),
                    .byteStrings(removed.map(\.key.key)),
                ]
            )
        }

        private func insertion(in file: Int64) -> Step {
            Step(
                """
                INSERT INTO object (file_id, class, key, document, long_key)
                SELECT $1, u.class, u.key, u.document, u.long_key
                FROM unnest($2::text[], $3::bytea[], $4::jsonb[], $5::bytea[])
                    u(class, key, document, long_key)
                ON CONFLICT (file_id, class, key) DO UPDATE SET document = excluded.document
                """,
                [
                    .integer(file), .texts(written.map(\.className)),
                    .byteStrings(written.map(\.key.key)), .documents(documents),
                    .byteStrings(written.map(\.key.longKey)),
                ]
            )
        }
    }
}
