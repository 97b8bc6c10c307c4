/// Copies a store into an empty one of either kind, and marks the first as moved (server on
/// PostgreSQL, 8).
///
/// Idents, salts and versions stay as they are, so that no client starts over. Two live copies would
/// fork: the source is marked before the target is committed.
package struct StoreCopy {
    let source: any CopyEnd
    let target: any CopyEnd
    /// Rows copied so far, of all rows, and the table at work.
    var progress: Progress = { _, _, _ in }

    package typealias Progress = (_ rows: Int, _ total: Int, _ table: String) -> Void

    /// Returns the rows of each table.
    func run() throws -> [(table: String, rows: Int)] {
        try check()
        try source.begin()
        try target.begin()
        var documents = CanonicalDocuments()
        var tables: [(table: String, rows: Int)] = []
        let total = try CopiedTable.all.reduce(0) { $0 + (try source.count(of: $1)) }
        var done = 0
        for table in CopiedTable.all {
            let before = done
            let written = try copy(table, &documents) { progress(before + $0, total, table.name) }
            done += written.rows
            let read = try target.digest(of: table) { try documents.canonical($0, of: table) }
            guard read == written else {
                throw StoreCopyFailure(
                    "table \(table.name) of \(target.place) does not have what was copied; the "
                        + "source is unchanged"
                )
            }
            tables.append((table.name, written.rows))
        }
        try target.finish()
        try source.commit()
        // A crash between the two leaves both refused; the same copy can then be run again.
        try source.markMoved(to: target.place)
        try target.commit()
        return tables
    }

    private func check() throws {
        if let place = try source.movedTo(), place != target.place {
            throw StoreCopyFailure("\(source.place) was moved to \(place)")
        }
        if let place = try target.movedTo() {
            throw StoreCopyFailure("\(target.place) was moved to \(place)")
        }
        guard try target.isEmpty() else {
            throw StoreCopyFailure("\(target.place) is not empty; name an empty store")
        }
    }

    private func copy(
        _ table: CopiedTable,
        _ documents: inout CanonicalDocuments,
        _ note: (_ rows: Int) -> Void
    ) throws -> ContentDigest {
        let next = try source.rows(of: table)
        var digest = ContentDigest()
        // The closure cannot change a parameter.
        var converted = documents
        try target.add(
            {
                guard let row = try next() else { return nil }
                converted.note(row, of: table)
                let canonical = try converted.canonical(row, of: table)
                digest.add(canonical)
                note(digest.rows)
                return canonical
            },
            to: table
        )
        documents = converted
        return digest
    }
}

/// The reason why a store was not copied.
package struct StoreCopyFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
