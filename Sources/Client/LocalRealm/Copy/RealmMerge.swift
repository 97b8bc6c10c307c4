internal import Changesets
internal import Glibc
internal import SQLite
internal import Schemas

/// Merges the objects of one realm file into another one (features, C9).
///
/// They are written as any program would write them, in one transaction: the destination's checks
/// apply, its triggers log the changes, and its agent uploads them. An object that exists in the
/// destination, by its primary key, gets the values of the source; all others stay as they are.
package struct RealmMerge: Sendable {
    package struct Report: Hashable, Sendable {
        /// The number of objects in the source, new to the destination or not.
        package let objectCount: Int
        /// Of the destination.
        package let sizeInBytes: UInt64
    }

    /// The path of the file that is read.
    private let source: String
    /// The longest wait for other programs' transactions.
    private static let busyTimeout = Duration.seconds(30)

    package init(from source: String) {
        self.source = source
    }

    /// - Throws: `schema.conflict` if the destination lacks a class or property of an object or
    ///   defines it otherwise, or if objects have no primary key to be matched by; any error of the
    ///   files.
    package func merge(into destination: String) throws(LocalRealmError) -> Report {
        let theirs = try Self.catalogue(of: source)
        let ours = try Self.catalogue(of: destination)
        return try RealmFile.mappingErrors(destination) {
            guard !Self.isSameFile(source, destination) else {
                throw LocalRealmError(.fileExists, path: destination, "this is the source itself")
            }
            let connection = try Connection(
                path: destination,
                .init(mode: .readWrite, busyTimeout: Self.busyTimeout)
            )
            defer { connection.close() }
            try connection.run("ATTACH ?1 AS source", [.text(source)])
            let count = try connection.transaction(.deferred) {
                // Locks only the destination, before anything is read.
                try connection.execute("UPDATE main._realm_state SET local_version = 0 WHERE 0")
                var count: Int64 = 0
                for table in theirs.tables where !table.isAsymmetric {
                    count += try merge(table, of: theirs, into: ours, destination, connection)
                }
                return Int(count)
            }
            return Report(objectCount: count, sizeInBytes: FileHome.size(of: destination))
        }
    }

    private static func catalogue(of path: String) throws(LocalRealmError) -> Catalogue {
        try RealmFile.reading(path) { connection in
            try connection.transaction(.deferred) {
                try CatalogueStore(connection: connection).load(options: [:])
            }
        }
    }

    private static func isSameFile(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard stat(one, &first) == 0, stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }
}

// MARK: One class

extension RealmMerge {
    /// - Returns: how many objects of the class the source has.
    private func merge(
        _ table: ClassTable,
        of theirs: Catalogue,
        into ours: Catalogue,
        _ destination: String,
        _ connection: Connection
    ) throws -> Int64 {
        let name = SQLText.name(table.tableName)
        let count = try connection.integer("SELECT count(*) FROM source.\(name)") ?? 0
        guard count > 0 else { return 0 }
        guard let position = ours.position(of: table.name) else {
            throw Self.conflict("there is no class \(table.name)", destination)
        }
        if let problem = Self.difference(of: table.name, theirs.schema, ours.schema, seen: []) {
            throw Self.conflict(problem, destination)
        }
        guard table.key.type != .globalKey else {
            throw Self.conflict(
                "objects of class \(table.name) have no primary key to be matched by",
                destination
            )
        }
        try Self.write(table, to: ours[position], on: connection)
        return count
    }

    /// The difference between two definitions of a class, and of the classes embedded in it.
    private static func difference(
        of name: Text,
        _ theirs: RealmSchema,
        _ ours: RealmSchema,
        seen: Set<Text>
    ) -> String? {
        guard !seen.contains(name) else { return nil }
        guard let source = theirs[name] else { return nil }
        guard let own = ours[name] else { return "there is no class \(name)" }
        guard own.kind == source.kind else { return "class \(name) has another kind or key" }
        let properties = Dictionary(uniqueKeysWithValues: own.properties.map { ($0.name, $0) })
        for property in source.properties {
            guard let match = properties[property.name] else {
                return "class \(name) has no property \(property.name)"
            }
            guard match == property else {
                return "property \(property.name) of class \(name) is of another type"
            }
            guard case .link(let target) = property.type, theirs[target]?.kind == .embedded else {
                continue
            }
            let seen = seen.union([name])
            if let problem = difference(of: target, theirs, ours, seen: seen) { return problem }
        }
        return nil
    }

    /// Existing objects first, then the others: with UPSERT the triggers before INSERT would treat
    /// the former as new.
    private static func write(
        _ table: ClassTable,
        to own: ClassTable,
        on connection: Connection
    ) throws(SQLiteError) {
        let (key, theirKey) = (SQLText.name(own.keyColumn), SQLText.name(table.keyColumn))
        let columns = table.columns.compactMap { column in
            own.position(of: column.name).map { position in
                (
                    own: SQLText.name(own.columns[position].columnName),
                    theirs: "s.\(SQLText.name(column.columnName))"
                )
            }
        }
        let name = "main.\(SQLText.name(own.tableName))"
        let source = "source.\(SQLText.name(table.tableName)) AS s"
        if !columns.isEmpty {
            let assignments = columns.map { "\($0.own) = \($0.theirs)" }.joined(separator: ", ")
            try connection.execute(
                """
                UPDATE \(name) AS t SET \(assignments) FROM \(source)
                WHERE t.\(key) IS s.\(theirKey)
                """
            )
        }
        let names = ([key] + columns.map(\.own)).joined(separator: ", ")
        let values = (["s.\(theirKey)"] + columns.map(\.theirs)).joined(separator: ", ")
        try connection.execute(
            """
            INSERT INTO \(name)(\(names)) SELECT \(values) FROM \(source)
            WHERE NOT EXISTS (SELECT 1 FROM \(name) AS t WHERE t.\(key) IS s.\(theirKey))
            """
        )
    }

    private static func conflict(_ problem: String, _ path: String) -> LocalRealmError {
        LocalRealmError(.schemaConflict, path: path, "nothing was merged: \(problem)")
    }
}
