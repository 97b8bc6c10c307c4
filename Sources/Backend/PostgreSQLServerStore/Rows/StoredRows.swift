import PostgreSQL
import ServerStore

/// The rows of a statement about the store's tables. A value of another type than the layout has, or a
/// missing one, is damage.
struct StoredRows {
    let rows: Rows

    init(_ rows: Rows) {
        self.rows = rows
    }

    var count: Int { rows.count }
    var isEmpty: Bool { rows.count == 0 }
    /// The number of rows that the statement wrote.
    var changes: Int { rows.changes }

    func integer(_ row: Int, _ column: Int) throws(StoreError) -> Int64 {
        try reading { () throws(PostgreSQLError) in try rows.integer(row, column) }
    }

    /// Versions, idents, salts and sizes: negative numbers count as 0.
    func number(_ row: Int, _ column: Int) throws(StoreError) -> UInt64 {
        UInt64(clamping: try integer(row, column))
    }

    func bool(_ row: Int, _ column: Int) throws(StoreError) -> Bool {
        try reading { () throws(PostgreSQLError) in try rows.bool(row, column) }
    }

    func string(_ row: Int, _ column: Int) throws(StoreError) -> String {
        try reading { () throws(PostgreSQLError) in try rows.string(row, column) }
    }

    func bytes(_ row: Int, _ column: Int) throws(StoreError) -> [UInt8] {
        try reading { () throws(PostgreSQLError) in try rows.bytes(row, column) }
    }

    func isNull(_ row: Int, _ column: Int) throws(StoreError) -> Bool {
        try reading { () throws(PostgreSQLError) in try rows.isNull(row, column) }
    }

    func optionalString(_ row: Int, _ column: Int) throws(StoreError) -> String? {
        try isNull(row, column) ? nil : try string(row, column)
    }

    func optionalBytes(_ row: Int, _ column: Int) throws(StoreError) -> [UInt8]? {
        try isNull(row, column) ? nil : try bytes(row, column)
    }

    /// Reads each row.
    func map<Record>(
        _ body: (Int) throws(StoreError) -> Record
    ) throws(StoreError) -> [Record] {
        var records: [Record] = []
        records.reserveCapacity(count)
        for row in 0..<count { records.append(try body(row)) }
        return records
    }

    private func reading<Result>(
        _ body: () throws(PostgreSQLError) -> Result
    ) throws(StoreError) -> Result {
        do throws(PostgreSQLError) {
            return try body()
        } catch {
            throw .damaged(error.message)
        }
    }
}

extension StoreError {
    static func damaged(_ what: String) -> StoreError {
        StoreError(.unusable, "the store in PostgreSQL is damaged: \(what); restore a backup")
    }
}

extension Value {
    /// Versions, idents, salts and sizes stay below 2^63.
    static func number(_ value: UInt64) -> Value {
        .integer(Int64(clamping: value))
    }
}
