package import Changesets
internal import Crypto
package import Digests
internal import Documents
package import SQLite
internal import Schemas
package import Versions

/// One state of a realm file, held for a comparison with the server while the agent and other programs
/// write.
///
/// It reads through a connection of its own, in a transaction that lasts until ``close()``. Meanwhile
/// SQLite cannot shorten the write-ahead log.
package actor HeldRealm {
    private nonisolated let executor: DatabaseExecutor
    private let connection: Connection
    private let tables: RealmTables
    private let form: CanonicalForm
    private let path: String
    package nonisolated let state: State

    /// The facts about the held state that the server needs.
    package struct State: Sendable {
        package let fileIdent: SaltedFileIdent
        /// The version up to which the server's history is integrated.
        package let serverVersion: ServerVersion
        /// Local writes that the server has not acknowledged.
        package let hasPendingChanges: Bool
        /// The compared properties, bytewise, by class; of embedded classes, too.
        package let properties: [Text: [Text]]
        /// The classes with objects of their own.
        package let classes: [Text]
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Holds the present state of the file at a path.
    package static func open(
        path: String,
        on executor: DatabaseExecutor
    ) async throws(LocalRealmError) -> HeldRealm {
        try await executor.perform { () throws(LocalRealmError) in
            try RealmFile.mappingErrors(path) { try HeldRealm(path, on: executor) }
        }
    }

    /// A connection that is not kept closes itself.
    private init(_ path: String, on executor: DatabaseExecutor) throws {
        let connection = try Connection(path: path, .init(mode: .readOnly))
        // The first read fixes the state.
        try connection.execute("BEGIN")
        guard let layout = try RealmStateRow.layoutVersion(on: connection),
            layout <= Layout.version, let row = try RealmStateRow(from: connection)
        else { throw LocalRealmError(.notARealm, path: path, "the file is not a local realm") }
        let catalogue = try CatalogueStore(connection: connection).load(options: [:])
        let unsent = try History(connection: connection).firstLocalVersion(
            after: row.progress.upload.clientVersion
        )
        let properties = CanonicalForm.properties(of: catalogue.schema)
        self.state = State(
            fileIdent: row.fileIdent,
            serverVersion: row.progress.download.serverVersion,
            hasPendingChanges: try unsent != nil || !CaptureLog.isEmpty(on: connection)
                || catalogue.schema.hasAdditions(to: catalogue.published),
            properties: properties.mapValues { $0.sorted() },
            classes: catalogue.tables.filter { !$0.isAsymmetric }.map(\.name).sorted()
        )
        self.form = CanonicalForm(catalogue.schema, comparing: properties)
        self.tables = RealmTables(connection, catalogue, StatementPool(connection))
        self.connection = connection
        self.path = path
        self.executor = executor
    }

    package func close() {
        connection.close()
    }

    /// The digest of a class. `report` gets the number of objects read so far, from time to time.
    package func digest(
        of className: Text,
        report: @Sendable (Int) -> Void
    ) throws(LocalRealmError) -> ClassDigest {
        var digest = ClassDigest()
        try forEachRow(of: className) { row in
            digest.add(row.digest, in: ClassDigest.bucket(of: row.keyBytes))
            if digest.count.isMultiple(of: Self.reportInterval) { report(digest.count) }
        }
        return digest
    }

    /// The objects of some buckets, without those that changed meanwhile.
    package func objects(
        of className: Text,
        in buckets: Set<Int>,
        without excluded: Set<ObjectKey>
    ) throws(LocalRealmError) -> [ComparedObject] {
        var objects: [ComparedObject] = []
        try forEachRow(of: className) { row in
            guard buckets.contains(ClassDigest.bucket(of: row.keyBytes)) else { return }
            if let key = row.key, excluded.contains(key) { return }
            objects.append(
                ComparedObject(
                    key: row.key,
                    digest: row.digest,
                    properties: row.document.map { propertyText(of: $0, className) } ?? ""
                )
            )
        }
        return objects
    }

    /// The digests without some objects.
    package func remove(
        _ objects: [ObjectReference],
        from digests: [Text: ClassDigest]
    ) throws(LocalRealmError) -> [Text: ClassDigest] {
        var digests = digests
        for object in objects {
            guard let plan = tables.plan(of: object.className), let table = plan.table else {
                continue
            }
            try RealmFile.mappingErrors(path) {
                let statement = try connection.statement(
                    "\(select(plan, table)) WHERE \(SQLText.name(table.keyColumn)) IS ?1"
                )
                defer { statement.reset() }
                try statement.bind(ColumnForm.encodeKey(object.key), at: 1)
                guard try statement.step() else { return }
                let row = row(of: statement, plan, table)
                digests[object.className]?.remove(
                    row.digest,
                    in: ClassDigest.bucket(of: row.keyBytes)
                )
            }
        }
        return digests
    }

    private static let reportInterval = 10_000
}

// MARK: Rows

extension HeldRealm {
    private struct Row {
        let key: ObjectKey?
        let keyBytes: [UInt8]
        let digest: ObjectDigest
        /// Nil if the row cannot be read.
        let document: Document?
    }

    private func propertyText(of document: Document, _ className: Text) -> String {
        form.properties(of: document, className).map {
            Hexadecimal.text(of: Self.hash($0.bytes).prefix(8))
        }.joined()
    }

    private func select(_ plan: ClassPlan, _ table: ClassTable) -> String {
        let columns =
            [table.keyColumn] + plan.properties.map { table.columns[$0.column].columnName }
        let list = columns.map { SQLText.name($0) }.joined(separator: ", ")
        return "SELECT \(list) FROM \(SQLText.name(table.tableName))"
    }

    private func forEachRow(
        of className: Text,
        _ body: (Row) -> Void
    ) throws(LocalRealmError) {
        guard let plan = tables.plan(of: className), let table = plan.table else { return }
        try RealmFile.mappingErrors(path) {
            let statement = try connection.prepare(select(plan, table))
            defer { statement.reset() }
            while try statement.step() {
                body(row(of: statement, plan, table))
            }
        }
    }

    /// The key's column first, then those of the properties.
    private func row(of statement: Statement, _ plan: ClassPlan, _ table: ClassTable) -> Row {
        let column = statement.columnValue(at: 0)
        guard let key = try? ColumnForm.decodeKey(column, as: table.key) else {
            let bytes = Array("\(column)".utf8)
            return Row(key: nil, keyBytes: bytes, digest: .unreadable, document: nil)
        }
        let keyBytes = CanonicalForm.bytes(of: key)
        let decoded = try? plan.properties.enumerated().map { position, property in
            try tables.decode(statement.columnValue(at: position + 1), property, of: plan.name)
        }
        guard let decoded else {
            return Row(key: key, keyBytes: keyBytes, digest: .unreadable, document: nil)
        }
        let document = Document(values: decoded)
        let object = ObjectReference(className: plan.name, key: key)
        return Row(
            key: key,
            keyBytes: keyBytes,
            digest: ObjectDigest(Self.hash(form.bytes(of: document, object))) ?? .unreadable,
            document: document
        )
    }

    private static func hash(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
}
