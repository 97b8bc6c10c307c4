import Changesets
import SQLite
import Schemas
import ServerStore

extension SQLiteDocumentTransaction {
    func schema(of file: ServerFileID) throws(StoreError) -> RealmSchema {
        let row = try translating {
            try connection.row(
                "SELECT schema FROM server_file WHERE file_id = ?",
                [.integer(file.rawValue)]
            )
        }
        guard case .blob(let bytes) = row?.first, let schema = schemas.decode(bytes, of: file)
        else {
            throw damaged("the schema of server file \(file.rawValue)")
        }
        return schema
    }

    func putSchema(_ schema: RealmSchema, of file: ServerFileID) throws(StoreError) {
        try translating {
            try connection.run(
                "UPDATE server_file SET schema = ? WHERE file_id = ?",
                [.blob(StoredSchema.encode(schema)), .integer(file.rawValue)]
            )
        }
    }

    func document(
        _ object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) -> [UInt8]? {
        try translating {
            let statement = try connection.statement(
                fixed: "SELECT document FROM object WHERE file_id = ? AND class = ? AND key = ?"
            )
            defer { statement.reset() }
            try bind(object, file, to: statement)
            return try statement.step() ? statement.bytes(at: 0) : nil
        }
    }

    func document(
        of className: Text,
        whose property: Text,
        is text: Text,
        in file: ServerFileID
    ) throws(StoreError) -> (ObjectKey, [UInt8])? {
        try translating {
            // Not by a JSON path: a name may contain characters with a meaning in paths.
            let statement = try connection.statement(
                """
                SELECT key, document FROM object
                WHERE file_id = ? AND class = ? AND EXISTS (
                    SELECT 1 FROM json_each(document)
                    WHERE json_each.key = ? AND json_each.value = ?)
                ORDER BY key LIMIT 1
                """
            )
            defer { statement.reset() }
            try statement.bind(file.rawValue, at: 1)
            try statement.bind(text: className.bytes, at: 2)
            try statement.bind(text: property.bytes, at: 3)
            try statement.bind(text: text.bytes, at: 4)
            guard try statement.step() else { return nil }
            guard let key = StoredKey.decode(statement.bytes(at: 0)) else {
                throw damaged("a key of class \(className)")
            }
            return (key, statement.bytes(at: 1))
        }
    }

    func files(
        of app: AppID,
        withAnyOf keys: [ObjectKey],
        ofClass className: Text
    ) throws(StoreError) -> [ServerFileID] {
        try translating {
            let statement = try connection.statement(
                fixed: """
                    SELECT f.file_id FROM server_file f CROSS JOIN object o
                    ON o.file_id = f.file_id AND o.class = ? AND o.key = ? WHERE f.app_id = ?
                    """
            )
            var files: Set<Int64> = []
            for key in keys {
                defer { statement.reset() }
                try statement.bind(text: className.bytes, at: 1)
                try statement.bind(blob: StoredKey.encode(key), at: 2)
                try statement.bind(text: Array(app.rawValue.utf8), at: 3)
                while try statement.step() { files.insert(statement.integer(at: 0)) }
            }
            return files.sorted().map { ServerFileID($0) }
        }
    }

    func objectCounts(in file: ServerFileID) throws(StoreError) -> [Text: Int] {
        try translating {
            let statement = try connection.statement(
                "SELECT class, count(*) FROM object WHERE file_id = ? GROUP BY class"
            )
            defer { statement.reset() }
            try statement.bind([.integer(file.rawValue)])
            var counts: [Text: Int] = [:]
            while try statement.step() {
                counts[Text(bytes: statement.bytes(at: 0))] = Int(statement.integer(at: 1))
            }
            return counts
        }
    }

    func forEachDocument(
        of className: Text,
        in file: ServerFileID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try translating {
            let statement = try connection.statement(
                """
                SELECT key, document FROM object
                WHERE file_id = ? AND class = ? AND key > ? ORDER BY key
                """
            )
            defer { statement.reset() }
            try statement.bind(file.rawValue, at: 1)
            try statement.bind(text: className.bytes, at: 2)
            // No key is empty.
            try statement.bind(blob: key.map { StoredKey.encode($0) } ?? [], at: 3)
            while try statement.step() {
                guard let key = StoredKey.decode(statement.bytes(at: 0)) else {
                    throw damaged("a key of class \(className)")
                }
                if try visit(key, statement.bytes(at: 1)) == .stop { return }
            }
        }
    }

    func putDocument(
        _ document: [UInt8],
        of object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) {
        try translating {
            let statement = try connection.statement(
                fixed: "REPLACE INTO object (file_id, class, key, document) VALUES (?, ?, ?, ?)"
            )
            try bind(object, file, to: statement)
            try statement.bind(text: document, at: 4)
            try statement.run()
        }
    }

    func addDocument(
        _ document: [UInt8],
        of object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) -> Bool {
        try translating {
            let statement = try connection.statement(fixed: Self.insertion)
            try bind(object, file, to: statement)
            try statement.bind(text: document, at: 4)
            try statement.run()
            return connection.changes > 0
        }
    }

    /// The file and the class are bound once, the documents where they are.
    func addDocuments(
        _ places: [(key: ObjectKey, json: Range<Int>)],
        in text: UnsafeRawBufferPointer,
        of className: Text,
        to file: ServerFileID
    ) throws(StoreError) -> Bool {
        try translating {
            let statement = try connection.statement(fixed: Self.insertion)
            defer { statement.reset() }
            try statement.bind(file.rawValue, at: 1)
            try statement.bind(text: className.bytes, at: 2)
            var areNew = true
            for place in places {
                let document = UnsafeRawBufferPointer(rebasing: text[place.json])
                try StoredKey.encode(place.key).withUnsafeBytes { key in
                    try statement.bind(blobInPlace: key, at: 3)
                    try statement.bind(textInPlace: document, at: 4)
                    try statement.runKeepingBindings()
                }
                areNew = areNew && connection.changes > 0
            }
            return areNew
        }
    }

    private static var insertion: StaticString {
        """
        INSERT INTO object (file_id, class, key, document) VALUES (?, ?, ?, ?)
        ON CONFLICT DO NOTHING
        """
    }

    func removeDocument(
        _ object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) {
        try translating {
            let statement = try connection.statement(
                fixed: "DELETE FROM object WHERE file_id = ? AND class = ? AND key = ?"
            )
            try bind(object, file, to: statement)
            try statement.run()
        }
    }

    func removeDocuments(ofClass className: Text, in file: ServerFileID) throws(StoreError) {
        try translating {
            let statement = try connection.statement(
                "DELETE FROM object WHERE file_id = ? AND class = ?"
            )
            try statement.bind(file.rawValue, at: 1)
            try statement.bind(text: className.bytes, at: 2)
            try statement.run()
        }
    }

    func bind(
        _ object: ObjectReference,
        _ file: ServerFileID,
        to statement: Statement
    ) throws(SQLiteError) {
        try statement.bind(file.rawValue, at: 1)
        try statement.bind(text: object.className.bytes, at: 2)
        try statement.bind(blob: StoredKey.encode(object.key), at: 3)
    }
}
