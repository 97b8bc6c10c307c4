import Changesets
import PostgreSQL
import QuerySQL
import ServerStore

/// The table `object`, as far as statements are about classes and files; `DocumentBuffer` has those
/// about single objects.
enum DocumentRows {
    /// One document, of any size.
    static func reading(_ row: ObjectRow, in file: ServerFileID) -> Step {
        Step(
            "SELECT document FROM object WHERE file_id = $1 AND class = $2 AND key = $3",
            [.integer(file.rawValue), .text(row.className), .bytes(row.key.key)]
        )
    }

    /// The next objects of a class by their rows' keys, up to about a MiB of them as stored.
    ///
    /// - Parameter key: of the last row before them; empty for the first ones.
    static func readingPage(
        of className: Text,
        in file: ServerFileID,
        after key: [UInt8]
    ) -> Step {
        Step(
            """
            SELECT key, document, long_key FROM (
                SELECT key, document, long_key,
                    sum(pg_column_size(document)) OVER (ORDER BY key)
                        - pg_column_size(document) AS before
                FROM (
                    SELECT key, document, long_key FROM object
                    WHERE file_id = $1 AND class = $2 AND key > $3 ORDER BY key LIMIT 1024
                ) p
            ) q WHERE before <= 1048576 ORDER BY key
            """,
            [.integer(file.rawValue), .text(className.bytes), .bytes(key)]
        )
    }

    /// The next objects of a class that satisfy a condition, in the same order and of the same size.
    ///
    /// - Parameter condition: over `document`, with its first parameter at `conditionParameter`.
    static func readingPage(
        of className: Text,
        in file: ServerFileID,
        after key: [UInt8],
        where condition: SQLCondition
    ) -> Step {
        Step(
            once: """
                SELECT key, document, long_key FROM (
                    SELECT key, document, long_key,
                        sum(pg_column_size(document)) OVER (ORDER BY key)
                            - pg_column_size(document) AS before
                    FROM (
                        SELECT key, document, long_key FROM object
                        WHERE file_id = $1 AND class = $2 AND key > $3 AND (\(condition.text))
                        ORDER BY key LIMIT 1024
                    ) p
                ) q WHERE before <= 1048576 ORDER BY key
                """,
            [.integer(file.rawValue), .text(className.bytes), .bytes(key)]
                + condition.parameters.map { parameter in
                    switch parameter {
                    case .integer(let value): .integer(value)
                    case .text(let text): .string(text)
                    }
                }
        )
    }

    static let conditionParameter = 4

    /// The key of a row, and its document.
    static func object(
        _ rows: StoredRows,
        _ row: Int,
        of className: Text
    ) throws(StoreError) -> (row: RowKey, key: ObjectKey, document: [UInt8]) {
        let columns = RowKey(
            key: try rows.bytes(row, 0),
            longKey: try rows.optionalBytes(row, 2)
        )
        guard let columns, let key = StoredKey.decode(columns.storedKey) else {
            throw .damaged("a key of class \(className)")
        }
        return (columns, key, try rows.bytes(row, 1))
    }

    /// The first object of a class whose member has a text as its value.
    static func searching(
        _ className: Text,
        whose property: Text,
        is text: Text,
        in file: ServerFileID
    ) -> Step {
        Step(
            """
            SELECT key, document, long_key FROM object
            WHERE file_id = $1 AND class = $2 AND document -> $3 = to_jsonb($4::text)
            ORDER BY key LIMIT 1
            """,
            [
                .integer(file.rawValue), .text(className.bytes), .text(property.bytes),
                .text(text.bytes),
            ]
        )
    }

    /// The files of an app with one of these objects.
    static func searching(_ rows: [ObjectRow], inFilesOf app: AppID) -> Step {
        Step(
            """
            SELECT f.file_id FROM server_file f
            WHERE f.app_id = $1 AND EXISTS (
                SELECT FROM unnest($2::text[], $3::bytea[]) u(class, key)
                JOIN object o ON o.file_id = f.file_id AND o.class = u.class AND o.key = u.key)
            ORDER BY f.file_id
            """,
            [
                .string(app.rawValue), .texts(rows.map(\.className)),
                .byteStrings(rows.map(\.key.key)),
            ]
        )
    }

    static func counting(in file: ServerFileID) -> Step {
        Step(
            "SELECT class, count(*) FROM object WHERE file_id = $1 GROUP BY class",
            [.integer(file.rawValue)]
        )
    }

    /// The bytes of the next documents of the file, and the last row among them.
    static func measuring(
        in file: ServerFileID,
        after className: [UInt8],
        _ key: [UInt8]
    ) -> Step {
        Step(
            """
            SELECT coalesce(sum(octet_length(document::text)), 0)::int8, count(*),
                (array_agg(class))[count(*)], (array_agg(key))[count(*)]
            FROM (
                SELECT class, key, document FROM object
                WHERE file_id = $1 AND (class, key) > ($2, $3)
                ORDER BY class, key LIMIT 10000
            ) p
            """,
            [.integer(file.rawValue), .text(className), .bytes(key)]
        )
    }

    static let measuredAtOnce: Int64 = 10_000

    /// Removes objects of a class, a portion at a time.
    static func removal(of className: Text, in file: ServerFileID) -> Step {
        Step(
            """
            DELETE FROM object WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM object WHERE file_id = $1 AND class = $2 LIMIT 10000))
            """,
            [.integer(file.rawValue), .text(className.bytes)]
        )
    }

    static func removal(in file: ServerFileID) -> Step {
        Step(
            """
            DELETE FROM object WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM object WHERE file_id = $1 LIMIT 10000))
            """,
            [.integer(file.rawValue)]
        )
    }
}
