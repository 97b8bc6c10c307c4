import Changesets
import Query
import QuerySQL
import SQLite
import ServerStore
import Versions

/// The views of flexible sync.
extension SQLiteTransaction {
    func viewEpochs(
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) -> [ViewEpoch] {
        try rows(
            """
            SELECT start_version, view, client_version FROM view_epoch
            WHERE file_id = ? AND ident = ? ORDER BY start_version
            """,
            [.integer(file.rawValue), .number(client.rawValue)]
        ) { row in
            ViewEpoch(
                start: ServerVersion(row.number(at: 0)),
                view: row.bytes(at: 1),
                clientVersion: ClientVersion(row.number(at: 2))
            )
        }
    }

    func viewRanges(
        of client: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [ViewRange] {
        try rows(
            """
            SELECT start_version, end_version FROM view_range
            WHERE file_id = ? AND ident = ? AND end_version > ? ORDER BY end_version
            """,
            [.integer(file.rawValue), .number(client.rawValue), .number(version.rawValue)]
        ) { row in
            ViewRange(
                start: ServerVersion(row.number(at: 0)),
                end: ServerVersion(row.number(at: 1))
            )
        }
    }

    func rejections(
        of client: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [RecordedRejection] {
        try rows(
            """
            SELECT version, client_version, updates FROM write_rejection
            WHERE file_id = ? AND ident = ? AND version > ? ORDER BY version
            """,
            [.integer(file.rawValue), .number(client.rawValue), .number(version.rawValue)]
        ) { row in
            RecordedRejection(
                compensatedAt: ServerVersion(row.number(at: 0)),
                clientVersion: ClientVersion(row.number(at: 1)),
                updates: row.bytes(at: 2)
            )
        }
    }

    private func rows<Row>(
        _ sql: String,
        _ values: [SQLiteValue],
        _ read: (Statement) -> Row
    ) throws(StoreError) -> [Row] {
        try translating {
            let statement = try connection.statement(sql)
            defer { statement.reset() }
            try statement.bind(values)
            var rows: [Row] = []
            while try statement.step() { rows.append(read(statement)) }
            return rows
        }
    }

    func append(
        _ epoch: ViewEpoch,
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) {
        try translating {
            try connection.run(
                """
                INSERT INTO view_epoch (file_id, ident, start_version, client_version, view)
                VALUES (?, ?, ?, ?, ?)
                """,
                [
                    .integer(file.rawValue), .number(client.rawValue),
                    .number(epoch.start.rawValue), .number(epoch.clientVersion.rawValue),
                    .blob(epoch.view),
                ]
            )
        }
    }

    func removeViewEpochs(
        of client: FileIdent,
        in file: ServerFileID,
        from start: ServerVersion,
        to end: ServerVersion
    ) throws(StoreError) {
        try translating {
            try connection.run(
                """
                DELETE FROM view_epoch
                WHERE file_id = ? AND ident = ? AND start_version BETWEEN ? AND ?
                """,
                [
                    .integer(file.rawValue), .number(client.rawValue), .number(start.rawValue),
                    .number(end.rawValue),
                ]
            )
        }
    }

    func append(
        _ range: ViewRange,
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) {
        try translating {
            // After a lost DOWNLOAD the client may get a longer part of the same history.
            try connection.run(
                """
                INSERT INTO view_range (file_id, ident, start_version, end_version)
                VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
                SET start_version = min(start_version, excluded.start_version)
                """,
                [
                    .integer(file.rawValue), .number(client.rawValue),
                    .number(range.start.rawValue), .number(range.end.rawValue),
                ]
            )
        }
    }

    func removeViewRanges(
        of client: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) throws(StoreError) {
        try translating {
            try connection.run(
                "DELETE FROM view_range WHERE file_id = ? AND ident = ? AND end_version <= ?",
                [.integer(file.rawValue), .number(client.rawValue), .number(version.rawValue)]
            )
        }
    }

    func append(
        _ rejection: RecordedRejection,
        of client: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) {
        try translating {
            try connection.run(
                """
                INSERT INTO write_rejection (file_id, ident, version, client_version, updates)
                VALUES (?, ?, ?, ?, ?)
                """,
                [
                    .integer(file.rawValue), .number(client.rawValue),
                    .number(rejection.compensatedAt.rawValue),
                    .number(rejection.clientVersion.rawValue), .blob(rejection.updates),
                ]
            )
        }
    }

    func removeRejections(
        of client: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) throws(StoreError) {
        try translating {
            try connection.run(
                "DELETE FROM write_rejection WHERE file_id = ? AND ident = ? AND version <= ?",
                [.integer(file.rawValue), .number(client.rawValue), .number(version.rawValue)]
            )
        }
    }
}

// MARK: Touched objects

extension SQLiteTransaction {
    func forEachTouchedObject(
        of file: ServerFileID,
        after start: ServerVersion,
        upTo end: ServerVersion,
        _ visit: (TouchedObject) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try translating {
            let statement = try connection.statement(
                """
                SELECT class, key, version, change, image, new_image FROM touched_object
                WHERE file_id = ? AND version > ? AND version <= ? ORDER BY version
                """
            )
            defer { statement.reset() }
            try statement.bind([
                .integer(file.rawValue), .number(start.rawValue), .number(end.rawValue),
            ])
            while try statement.step() {
                if try visit(try touchedObject(statement)) == .stop { return }
            }
        }
    }

    func touches(
        of object: ObjectReference,
        in file: ServerFileID,
        after version: ServerVersion
    ) throws(StoreError) -> [TouchedObject] {
        try translating {
            let statement = try connection.statement(
                """
                SELECT class, key, version, change, image, new_image FROM touched_object
                WHERE file_id = ? AND class = ? AND key = ? AND version > ? ORDER BY version
                """
            )
            defer { statement.reset() }
            try bind(object, file, to: statement)
            try statement.bind(.number(version.rawValue), at: 4)
            var touches: [TouchedObject] = []
            while try statement.step() { touches.append(try touchedObject(statement)) }
            return touches
        }
    }

    private func touchedObject(_ row: Statement) throws(StoreError) -> TouchedObject {
        let className = Text(bytes: row.bytes(at: 0))
        let change = TouchedObject.Change(
            code: row.integer(at: 3),
            image: row.bytes(at: 4),
            newImage: row.bytes(at: 5)
        )
        guard let key = StoredKey.decode(row.bytes(at: 1)), let change else {
            throw damaged("a touched object of class \(className)")
        }
        return TouchedObject(
            object: ObjectReference(className: className, key: key),
            version: ServerVersion(row.number(at: 2)),
            change: change
        )
    }

    func append(_ touched: [TouchedObject], to file: ServerFileID) throws(StoreError) {
        try translating {
            let statement = try connection.statement(
                """
                INSERT INTO touched_object
                    (file_id, class, key, version, change, image, new_image)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """
            )
            for touch in touched {
                try bind(touch.object, file, to: statement)
                try statement.bind(.number(touch.version.rawValue), at: 4)
                let (code, image, newImage) = touch.change.stored
                try statement.bind(code, at: 5)
                try statement.bind(text: image, at: 6)
                if let newImage {
                    try statement.bind(text: newImage, at: 7)
                } else {
                    try statement.bindNull(at: 7)
                }
                try statement.run()
            }
        }
    }
}

// MARK: Candidates

extension SQLiteTransaction {
    func forEachCandidate(
        for queries: [CheckedQuery],
        of className: Text,
        in file: ServerFileID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError) {
        guard !queries.isEmpty else { return }
        let condition = SQLCondition(candidatesOfAny: queries, .sqlite, firstParameter: 4)
        guard let condition else {
            // The caller decides on every object.
            return try forEachDocument(of: className, in: file, after: key, visit)
        }
        try translating {
            // Not kept: clients choose these texts.
            let statement = try connection.prepare(
                """
                SELECT key, document FROM object
                WHERE file_id = ?1 AND class = ?2 AND key > ?3
                    AND (\(condition.text))
                ORDER BY key
                """
            )
            try statement.bind(file.rawValue, at: 1)
            try statement.bind(text: className.bytes, at: 2)
            // No key is empty.
            try statement.bind(blob: key.map { StoredKey.encode($0) } ?? [], at: 3)
            for (index, parameter) in condition.parameters.enumerated() {
                switch parameter {
                case .integer(let value): try statement.bind(value, at: index + 4)
                case .text(let text): try statement.bind(text, at: index + 4)
                }
            }
            while try statement.step() {
                guard let key = StoredKey.decode(statement.bytes(at: 0)) else {
                    throw damaged("a key of class \(className)")
                }
                if try visit(key, statement.bytes(at: 1)) == .stop { return }
            }
        }
    }
}
