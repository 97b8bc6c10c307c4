internal import Documents
internal import SQLite
internal import Schemas

/// The prepared statements of one class's table.
final class TableStatements {
    let table: ClassTable
    private let connection: Connection
    private var select: Statement?
    private var insert: Statement?
    private var delete: Statement?
    private var probe: Statement?
    private var insertedRows: Statement?
    private var selects: [[Int]: Statement] = [:]
    private var updates: [[Int]: Statement] = [:]

    /// The most sets of columns whose statements are kept; a table that needs more starts over.
    private static let keptLimit = 256

    init(_ table: ClassTable, on connection: Connection) {
        self.table = table
        self.connection = connection
    }

    /// Lends the row of a key, its properties from column 0 on; nil if there is no such object.
    func withRow<Result>(
        of key: ColumnValue,
        _ body: (Statement) throws -> Result
    ) throws -> Result? {
        let statement = try prepared(&select) {
            // A class with only a key has a row, too.
            let columns = table.columns.map { SQLText.name($0.columnName) } + ["1"]
            return "SELECT \(columns.joined(separator: ", ")) FROM \(name) WHERE \(isKey)"
        }
        defer { statement.reset() }
        try statement.bind(key, at: 1)
        guard try statement.step() else { return nil }
        return try body(statement)
    }

    /// Lends some properties of a row, named by their positions; nil if there is no such object.
    func withColumns<Result>(
        _ positions: [Int],
        of key: ColumnValue,
        _ body: (Statement) throws -> Result
    ) throws -> Result? {
        let statement = try kept(\.selects, positions) {
            let columns = positions.map { SQLText.name(table.columns[$0].columnName) }
            return "SELECT \(columns.joined(separator: ", ")) FROM \(name) WHERE \(isKey)"
        }
        defer { statement.reset() }
        try statement.bind(key, at: 1)
        guard try statement.step() else { return nil }
        return try body(statement)
    }

    /// Selects the rows that log rows of a range say were inserted, in the order of the log: their properties
    /// from column 0 on, then the key.
    func selectInserted(_ range: ClosedRange<Int64>) throws(SQLiteError) -> Statement {
        let statement = try prepared(&insertedRows) {
            let columns = table.columns.map { "t.\(SQLText.name($0.columnName))" } + ["l.key"]
            return """
                SELECT \(columns.joined(separator: ", ")) FROM _realm_capture l CROSS JOIN \(name) t \
                ON t.\(keyName) \(table.key.isNullable ? "IS" : "=") l.key \
                WHERE l.seq BETWEEN ?1 AND ?2 AND l.class = \(table.id) \
                AND l.prop = \(CaptureMark.inserted) ORDER BY l.seq
                """
        }
        try statement.bind(range.lowerBound, at: 1)
        try statement.bind(range.upperBound, at: 2)
        return statement
    }

    func exists(_ key: ColumnValue) throws(SQLiteError) -> Bool {
        let statement = try prepared(&probe) { "SELECT 1 FROM \(name) WHERE \(isKey)" }
        defer { statement.reset() }
        try statement.bind(key, at: 1)
        return try statement.step()
    }

    /// Inserts an object with all of its properties; false if it already exists.
    func insert(_ key: ColumnValue, _ values: [ColumnValue]) throws(SQLiteError) -> Bool {
        let insertion = try insertion()
        try insertion.statement.bind(key, at: Insertion.keyParameter)
        for (column, value) in values.enumerated() {
            try insertion.statement.bind(value, at: Insertion.parameter(ofColumn: column))
        }
        return try insertion.run()
    }

    /// The statement that inserts one object, for callers that bind its values themselves.
    struct Insertion {
        let statement: Statement
        fileprivate let connection: Connection

        static let keyParameter = 1

        /// By the column's position in the table; what is not bound is NULL.
        static func parameter(ofColumn position: Int) -> Int { position + 2 }

        /// False if the object already exists.
        func run() throws(SQLiteError) -> Bool {
            try statement.run()
            return connection.changes > 0
        }
    }

    func insertion() throws(SQLiteError) -> Insertion {
        let statement = try prepared(&insert) {
            let columns = [keyName] + table.columns.map { SQLText.name($0.columnName) }
            let parameters = columns.indices.map { "?\($0 + 1)" }
            return """
                INSERT INTO \(name)(\(columns.joined(separator: ", "))) \
                VALUES (\(parameters.joined(separator: ", "))) ON CONFLICT DO NOTHING
                """
        }
        return Insertion(statement: statement, connection: connection)
    }

    /// Sets some properties, named by their ascending positions; false if there is no such object.
    func update(
        _ key: ColumnValue,
        at positions: [Int],
        to values: [ColumnValue]
    ) throws(SQLiteError) -> Bool {
        let statement = try kept(\.updates, positions) {
            let assignments = positions.enumerated().map { index, position in
                "\(SQLText.name(table.columns[position].columnName)) = ?\(index + 2)"
            }
            return "UPDATE \(name) SET \(assignments.joined(separator: ", ")) WHERE \(isKey)"
        }
        try statement.bind(key, at: 1)
        for (index, value) in values.enumerated() {
            try statement.bind(value, at: index + 2)
        }
        try statement.run()
        return connection.changes > 0
    }

    /// False if there is no such object.
    func delete(_ key: ColumnValue) throws(SQLiteError) -> Bool {
        let statement = try prepared(&delete) { "DELETE FROM \(name) WHERE \(isKey)" }
        try statement.bind(key, at: 1)
        try statement.run()
        return connection.changes > 0
    }

    private var name: String { SQLText.name(table.tableName) }
    private var keyName: String { SQLText.name(table.keyColumn) }
    private var isKey: String { "\(keyName) \(table.key.isNullable ? "IS" : "=") ?1" }

    private func kept(
        _ statements: ReferenceWritableKeyPath<TableStatements, [[Int]: Statement]>,
        _ positions: [Int],
        _ sql: () -> String
    ) throws(SQLiteError) -> Statement {
        if let known = self[keyPath: statements][positions] { return known }
        let new = try connection.prepare(sql())
        if self[keyPath: statements].count == Self.keptLimit { self[keyPath: statements] = [:] }
        self[keyPath: statements][positions] = new
        return new
    }

    private func prepared(
        _ statement: inout Statement?,
        _ sql: () -> String
    ) throws(SQLiteError) -> Statement {
        if let statement { return statement }
        let new = try connection.prepare(sql())
        statement = new
        return new
    }
}

/// The prepared statements of all tables; empty it when a table changes.
final class StatementPool {
    private let connection: Connection
    private var tables: [Int64: TableStatements] = [:]

    init(_ connection: Connection) {
        self.connection = connection
    }

    func statements(of table: ClassTable) -> TableStatements {
        if let known = tables[table.id] { return known }
        let new = TableStatements(table, on: connection)
        tables[table.id] = new
        return new
    }

    func removeAll() {
        tables = [:]
    }
}
