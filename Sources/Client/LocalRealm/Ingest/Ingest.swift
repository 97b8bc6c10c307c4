internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Writes objects from JSON lines into a realm file, as any program would: beside the agent, and
/// under the checks and triggers of the file (local realm, 3.3).
///
/// Every line is independent; a batch of them is one transaction.
package final class Ingest {
    private let path: String
    private let connection: Connection
    let catalogue: Catalogue
    /// Reads the current objects and makes the statements that write them; for discarded changes of
    /// a reset.
    let tables: RealmTables
    let pool: StatementPool
    private let form: Form
    private var statements: [[Int]: Statement] = [:]

    /// The content of the lines.
    package enum Form: Hashable, Sendable {
        /// New objects of the class, in the JSON form of local realm, 2.
        case objects(className: String)
        /// The changes that a client reset recorded before it discarded them.
        case recovered
    }

    /// - Throws: `ingest.unknown_class`, as a refusal; any error of the file.
    package init(into path: String, _ form: Form) throws {
        self.path = path
        self.form = form
        // The next reader reports the error.
        catalogue = try RealmFile.reading(path) { connection in
            try connection.transaction(.deferred) {
                try CatalogueStore(connection: connection).load(options: [:])
            }
        }
        connection = try RealmFile.mappingErrors(path) {
            try Connection(path: path, .init(mode: .readWrite, busyTimeout: .seconds(30)))
        }
        pool = StatementPool(connection)
        tables = RealmTables(connection, catalogue, pool)
        guard case .objects(let name) = form else { return }
        guard catalogue.position(of: Text(name)) != nil else {
            let known = catalogue.tables.map { "\($0.name)" }.sorted().joined(separator: ", ")
            throw Refusal(
                .unknownClass,
                line: 0,
                "the realm has no class \(name) with objects of its own",
                remedy: known.isEmpty ? "it has none yet" : "it has \(known)"
            )
        }
    }

    package func close() {
        statements = [:]
        pool.removeAll()
        connection.close()
    }

    /// A line of the input, with its number.
    package struct Line: Sendable {
        package let number: Int
        package let bytes: [UInt8]

        package init(number: Int, bytes: [UInt8]) {
            self.number = number
            self.bytes = bytes
        }
    }

    /// Writes the lines in one transaction.
    ///
    /// - Parameter isRehearsal: checks everything, and keeps nothing.
    /// - Returns: the outcome of each line of a file in `recovered/`; nothing for objects.
    /// - Throws: a `Refusal` for the first invalid line, and then nothing of the batch is written;
    ///   a `LocalRealmError` for an error of the file.
    @discardableResult
    package func write(
        _ lines: some Sequence<Line>,
        isRehearsal: Bool
    ) throws -> [RecoveredOutcome] {
        var outcomes: [RecoveredOutcome] = []
        do {
            try connection.transaction(.immediate) {
                for line in lines {
                    switch form {
                    case .objects(let name): try insert(line, className: Text(name))
                    case .recovered: outcomes.append(try reapply(line))
                    }
                }
                if isRehearsal { throw Rehearsed() }
            }
        } catch is Rehearsed {
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            statements = [:]
            pool.removeAll()
            try RealmFile.mappingErrors(path) { () throws -> Void in throw error }
        }
        return outcomes
    }

    private struct Rehearsed: Error {}
}

// MARK: Objects

extension Ingest {
    private func insert(_ line: Line, className: Text) throws {
        guard let position = catalogue.position(of: className),
            let owner = catalogue.schema[className]
        else { return }
        let table = catalogue[position]
        let members: (key: ObjectKey?, values: [Int: Documents.Value])
        do throws(FormError) {
            members = try JSONForm(schema: catalogue.schema).decodeMembers(line.bytes, of: owner)
        } catch {
            throw Refusal(error, line: line.number, className)
        }
        // -1 marks the key.
        var values: [(position: Int, value: ColumnValue)] = []
        if let key = members.key { values.append((-1, ColumnForm.encodeKey(key))) }
        for (index, property) in owner.properties.enumerated() {
            guard let value = members.values[index],
                let column = table.position(of: property.name)
            else { continue }
            values.append((column, table.columns[column].encode(value, in: catalogue.schema)))
        }
        let statement = try statement(values.map(\.position), table)
        defer { statement.reset() }
        for (index, value) in values.enumerated() { try statement.bind(value.value, at: index + 1) }
        try run(line, className) { () throws(SQLiteError) in try statement.run() }
    }

    private func statement(_ positions: [Int], _ table: ClassTable) throws -> Statement {
        if let known = statements[positions] {
            known.reset()
            return known
        }
        let name = SQLText.name(table.tableName)
        let columns = positions.map {
            SQLText.name($0 < 0 ? table.keyColumn : table.columns[$0].columnName)
        }
        let marks = positions.indices.map { "?\($0 + 1)" }
        let sql =
            columns.isEmpty
            ? "INSERT INTO \(name) DEFAULT VALUES"
            : "INSERT INTO \(name)(\(columns.joined(separator: ", "))) "
                + "VALUES (\(marks.joined(separator: ", ")))"
        // One for each set of properties in the lines: few, unless the input is malicious.
        if statements.count >= 256 { statements = [:] }
        let statement = try connection.prepare(sql)
        statements[positions] = statement
        return statement
    }

    /// A violated constraint is an error of the line; all else, of the file.
    func run(
        _ line: Line,
        _ className: Text,
        _ write: () throws(SQLiteError) -> Void
    ) throws {
        do throws(SQLiteError) {
            try write()
        } catch {
            guard error.condition == .constraint else { throw error }
            let isThere = error.message.contains("UNIQUE constraint failed")
            throw Refusal(
                isThere ? .exists : .badObject,
                line: line.number,
                isThere
                    ? "an object of \(className) with this key already exists" : error.message,
                remedy: isThere
                    ? "leave the line out, or change the object with SQL" : "correct the line"
            )
        }
    }
}
