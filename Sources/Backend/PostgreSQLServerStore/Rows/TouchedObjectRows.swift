import Changesets
import PostgreSQL
import ServerStore
import Versions

/// The table `touched_object`.
enum TouchedObjectRows {
    /// The place of a row in the order of versions.
    struct Position {
        let version: ServerVersion
        let className: [UInt8]
        let key: [UInt8]

        /// Before all rows after a version. No class name is empty.
        init(after version: ServerVersion) {
            self.init(ServerVersion(version.rawValue &+ 1), [], [])
        }

        fileprivate init(_ version: ServerVersion, _ className: [UInt8], _ key: [UInt8]) {
            self.version = version
            self.className = className
            self.key = key
        }
    }

    static let rowsAtOnce = 256

    /// The next objects that versions touched, by version.
    static func readingPage(
        of file: ServerFileID,
        after position: Position,
        upTo end: ServerVersion
    ) -> Step {
        Step(
            """
            SELECT class, key, long_key, version, change, image, new_image FROM touched_object
            WHERE file_id = $1 AND (version, class, key) > ($2, $3, $4) AND version <= $5
            ORDER BY version, class, key LIMIT $6
            """,
            [
                .integer(file.rawValue), .number(position.version.rawValue),
                .text(position.className), .bytes(position.key), .number(end.rawValue),
                .integer(Int64(rowsAtOnce)),
            ]
        )
    }

    static func reading(
        _ row: ObjectRow,
        in file: ServerFileID,
        after version: ServerVersion
    ) -> Step {
        Step(
            """
            SELECT class, key, long_key, version, change, image, new_image FROM touched_object
            WHERE file_id = $1 AND class = $2 AND key = $3 AND version > $4 ORDER BY version
            """,
            [
                .integer(file.rawValue), .text(row.className), .bytes(row.key.key),
                .number(version.rawValue),
            ]
        )
    }

    static func touched(
        _ rows: StoredRows,
        _ row: Int
    ) throws(StoreError) -> (object: TouchedObject, position: Position) {
        let className = try rows.bytes(row, 0)
        let columns = RowKey(
            key: try rows.bytes(row, 1),
            longKey: try rows.optionalBytes(row, 2)
        )
        let change = TouchedObject.Change(
            code: try rows.integer(row, 4),
            image: try rows.bytes(row, 5),
            newImage: try rows.optionalBytes(row, 6)
        )
        guard let columns, let key = StoredKey.decode(columns.storedKey), let change else {
            throw .damaged("a touched object of class \(Text(bytes: className))")
        }
        let version = ServerVersion(try rows.number(row, 3))
        let object = ObjectReference(className: Text(bytes: className), key: key)
        return (
            TouchedObject(object: object, version: version, change: change),
            Position(version, className, columns.key)
        )
    }

    static func insertion(of touched: [TouchedObject], to file: ServerFileID) -> Step {
        let rows = touched.map { (row: ObjectRow($0.object), change: $0.change.stored) }
        return Step(
            """
            INSERT INTO touched_object
                (file_id, class, key, long_key, version, change, image, new_image)
            SELECT $1, u.* FROM unnest($2::text[], $3::bytea[], $4::bytea[], $5::int8[], $6::int8[],
                $7::text[], $8::text[]) u
            """,
            [
                .integer(file.rawValue), .texts(rows.map(\.row.className)),
                .byteStrings(rows.map(\.row.key.key)),
                .byteStrings(rows.map(\.row.key.longKey)),
                .integers(touched.map { Int64(clamping: $0.version.rawValue) }),
                .integers(rows.map(\.change.code)), .texts(rows.map(\.change.image)),
                .texts(rows.map(\.change.newImage)),
            ]
        )
    }

    /// Removes a portion of those up to a version.
    static func removal(of file: ServerFileID, upTo version: ServerVersion) -> Step {
        Step(
            """
            DELETE FROM touched_object WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM touched_object WHERE file_id = $1 AND version <= $2 LIMIT 10000))
            """,
            [.integer(file.rawValue), .number(version.rawValue)]
        )
    }
}
