internal import Documents
internal import SQLite

/// The rows of the objects that a group of the capture log inserted, read in the order of the log.
///
/// One statement for all of them is not bound and reset for each.
struct InsertedRows {
    private let statements: StatementPool
    private let range: ClosedRange<Int64>
    /// By table; nil until asked for.
    private var readers: [Reader?]

    private struct Reader {
        let statement: Statement
        let keyColumn: Int
        var isAtRow: Bool

        mutating func step() throws(SQLiteError) {
            isAtRow = false
            isAtRow = try statement.step()
        }
    }

    /// Smaller groups are not worth it.
    private static let smallestGroup = 8

    /// Nil if it is not worth it.
    init?(of group: CaptureLog.Group, tableCount: Int, _ statements: StatementPool) {
        guard group.insertions >= Self.smallestGroup else { return nil }
        self.statements = statements
        self.readers = Array(repeating: nil, count: tableCount)
        self.range = group.firstSequence...group.lastSequence
    }

    /// Lends the row of an object, its properties from column 0 on; nil if it is not the next one.
    ///
    /// The rows of objects that are not asked for are skipped one at a time: they are few.
    mutating func withRow(
        of key: ColumnValue,
        in table: ClassTable,
        at position: Int,
        _ body: (Statement) throws -> Void
    ) throws -> Bool {
        var reader = try readers[position] ?? start(table, at: position)
        defer { readers[position] = reader }
        if reader.isAtRow, !reader.statement.holds(key, at: reader.keyColumn) {
            try reader.step()
        }
        guard reader.isAtRow, reader.statement.holds(key, at: reader.keyColumn) else {
            return false
        }
        try body(reader.statement)
        try reader.step()
        return true
    }

    private mutating func start(
        _ table: ClassTable,
        at position: Int
    ) throws(SQLiteError) -> Reader {
        let statement = try statements.statements(of: table).selectInserted(range)
        var reader = Reader(statement: statement, keyColumn: table.columns.count, isAtRow: false)
        readers[position] = reader
        try reader.step()
        return reader
    }

    /// Ends the reading; call it before anything else may use the statements.
    func end() {
        for reader in readers { reader?.statement.reset() }
    }
}
