import Changesets
import PostgreSQL
import Schemas
import ServerStore

extension PostgreSQLTransaction {
    // MARK: Schemas

    func schema(of file: ServerFileID) throws(StoreError) -> RealmSchema {
        if let schema = buffer[file].schema { return schema }
        let cached = schemas[file]
        // A file whose row is known says which version counts.
        if let row = buffer[file].known, row.schemaVersion == cached?.version ?? 0 {
            return try remember(cached?.schema ?? RealmSchema(), of: file)
        }
        let rows = try runner.read(SchemaRows.reading(of: file, unless: cached?.version ?? -1))
        return try remember(try schemas.schema(of: file, rows, unless: cached), of: file)
    }

    private func remember(
        _ schema: RealmSchema,
        of file: ServerFileID
    ) throws(StoreError) -> RealmSchema {
        try buffer.change(file) { $0.note(schema) }
        return schema
    }

    func putSchema(_ schema: RealmSchema, of file: ServerFileID) throws(StoreError) {
        try hold(file)
        try buffer.change(file) { buffer throws(StoreError) in try buffer.put(schema) }
    }

    // MARK: Single objects

    func document(
        _ object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) -> [UInt8]? {
        switch try content(of: ObjectRow(object), in: file) {
        case .document(let document): document
        case .absent: nil
        }
    }

    private func content(
        of row: ObjectRow,
        in file: ServerFileID
    ) throws(StoreError) -> DocumentBuffer.Content {
        if let known = buffer[file].documents.content(of: row) { return known }
        let found = try runner.read(DocumentRows.reading(row, in: file))
        let document = found.isEmpty ? nil : try found.bytes(0, 0)
        let content = document.map { DocumentBuffer.Content.document($0) } ?? .absent
        try buffer.change(file) { $0.documents.note(content, of: row) }
        return content
    }

    func putDocument(
        _ document: [UInt8],
        of object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) {
        try change(object, in: file, to: .document(document))
    }

    func addDocument(
        _ document: [UInt8],
        of object: ObjectReference,
        in file: ServerFileID
    ) throws(StoreError) -> Bool {
        try hold(file)
        guard try content(of: ObjectRow(object), in: file) == .absent else { return false }
        try change(object, in: file, to: .document(document))
        return true
    }

    func removeDocument(_ object: ObjectReference, in file: ServerFileID) throws(StoreError) {
        try change(object, in: file, to: .absent)
    }

    private func change(
        _ object: ObjectReference,
        in file: ServerFileID,
        to content: DocumentBuffer.Content
    ) throws(StoreError) {
        try hold(file)
        let size = try buffer.change(file) { buffer in
            buffer.documents.write(content, to: ObjectRow(object))
            return buffer.documents.sizeInBytes
        }
        if size > Self.bufferedAtMost { try spill(file) }
    }

    /// Documents of a file, until they are sent before their transaction ends.
    static let bufferedAtMost = 32 << 20

    /// Sends what is written, and forgets the documents: a transaction may write more than memory holds. One
    /// that bodies share is small (`BatchLimits`).
    private func spill(_ file: ServerFileID) throws(StoreError) {
        guard runner.mode == .alone else { return }
        try flush()
        _ = try runner.run([])
        try buffer.change(file) { $0.documents.forget() }
    }

    // MARK: Classes

    func document(
        of className: Text,
        whose property: Text,
        is text: Text,
        in file: ServerFileID
    ) throws(StoreError) -> (ObjectKey, [UInt8])? {
        try flushIfWriting()
        // PostgreSQL has no U+0000 in texts: no document has such a value.
        guard !text.bytes.contains(0), !property.bytes.contains(0) else { return nil }
        let rows = try runner.read(
            DocumentRows.searching(className, whose: property, is: text, in: file)
        )
        guard !rows.isEmpty else { return nil }
        let object = try DocumentRows.object(rows, 0, of: className)
        return (object.key, object.document)
    }

    func files(
        of app: AppID,
        withAnyOf keys: [ObjectKey],
        ofClass className: Text
    ) throws(StoreError) -> [ServerFileID] {
        try flushIfWriting()
        let objects = keys.map { ObjectReference(className: className, key: $0) }
        let rows = try runner.read(
            DocumentRows.searching(objects.map(ObjectRow.init), inFilesOf: app)
        )
        return try rows.map { row throws(StoreError) in ServerFileID(try rows.integer(row, 0)) }
    }

    func objectCounts(in file: ServerFileID) throws(StoreError) -> [Text: Int] {
        try flushIfWriting()
        let rows = try runner.read(DocumentRows.counting(in: file))
        var counts: [Text: Int] = [:]
        for row in 0..<rows.count {
            counts[Text(bytes: try rows.bytes(row, 0))] = Int(try rows.integer(row, 1))
        }
        return counts
    }

    func documentSize(in file: ServerFileID) throws(StoreError) -> UInt64 {
        try flushIfWriting()
        var size = UInt64(0)
        var last: (className: [UInt8], key: [UInt8]) = ([], [])
        while true {
            let rows = try runner.read(
                DocumentRows.measuring(in: file, after: last.className, last.key)
            )
            size &+= try rows.number(0, 0)
            guard try rows.integer(0, 1) == DocumentRows.measuredAtOnce else { return size }
            last = (try rows.bytes(0, 2), try rows.bytes(0, 3))
        }
    }

    /// The order is that of the rows' keys, in which a long key is replaced by its digest.
    func forEachDocument(
        of className: Text,
        in file: ServerFileID,
        after key: ObjectKey?,
        _ visit: (ObjectKey, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try forEachDocument(of: className, after: key, visit) { position in
            DocumentRows.readingPage(of: className, in: file, after: position)
        }
    }

    /// - Parameter page: the statement for the rows behind a key.
    func forEachDocument(
        of className: Text,
        after key: ObjectKey?,
        _ visit: (ObjectKey, [UInt8]) throws(StoreError) -> Visit,
        page: (_ key: [UInt8]) -> Step
    ) throws(StoreError) {
        try flushIfWriting()
        var position = key.map { RowKey(storedKey: StoredKey.encode($0)).key } ?? []
        while true {
            let rows = try runner.read(page(position))
            guard !rows.isEmpty else { return }
            for row in 0..<rows.count {
                let object = try DocumentRows.object(rows, row, of: className)
                position = object.row.key
                if try visit(object.key, object.document) == .stop { return }
            }
        }
    }

    func removeDocuments(ofClass className: Text, in file: ServerFileID) throws(StoreError) {
        try writeInPortions(DocumentRows.removal(of: className, in: file), to: file)
    }
}

extension ObjectRow {
    init(_ object: ObjectReference) {
        self.init(
            className: object.className.bytes,
            storedKey: StoredKey.encode(object.key)
        )
    }
}
