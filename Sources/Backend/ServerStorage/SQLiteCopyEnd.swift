import SQLite
import SQLiteServerStore

/// An embedded store as an end of a copy.
final class SQLiteCopyEnd: CopyEnd {
    let place: String
    private let store: StoppedStore

    private var connection: Connection { store.connection }

    /// Locks the store's file: no server can use it meanwhile.
    init(path: String, isTarget: Bool) throws {
        place = "sqlite:\(path)"
        store = try StoppedStore(path: path, createsFile: isTarget)
    }

    func movedTo() throws -> String? { try store.movedTo() }

    func isEmpty() throws -> Bool {
        for table in CopiedTable.all where table.name != CopiedTable.fileSchema {
            guard try connection.row("\(table.selection) LIMIT 1") == nil else { return false }
        }
        return true
    }

    func begin() throws {
        try connection.execute("BEGIN")
    }

    func commit() throws {
        try connection.execute("COMMIT")
    }

    func markMoved(to place: String) throws {
        try store.markMoved(to: place)
    }

    func finish() throws {}

    func count(of table: CopiedTable) throws -> Int {
        Int(try connection.integer("SELECT count(*) FROM (\(table.selection))") ?? 0)
    }

    func rows(of table: CopiedTable) throws -> () throws -> [CopiedValue]? {
        let statement = try connection.prepare(table.selection)
        return {
            guard try statement.step() else { return nil }
            return table.columns.enumerated().map { position, column in
                switch column.type {
                case .integer, .flag: .integer(statement.integer(at: position))
                case .text, .document:
                    statement.storageClass(at: position) == .null
                        ? .text(nil) : .text(statement.bytes(at: position))
                case .bytes, .objectKey: .bytes(statement.bytes(at: position))
                }
            }
        }
    }

    func add(_ next: () throws -> [CopiedValue]?, to table: CopiedTable) throws {
        let statement = try connection.prepare(Self.insertion(table))
        while let row = try next() {
            statement.reset()
            // The file is the key of an update, and the version of the schema is PostgreSQL's alone.
            let values = table.name == CopiedTable.fileSchema ? [row[2], row[0]] : row
            for (position, value) in values.enumerated() {
                switch value {
                case .integer(let number): try statement.bind(number, at: position + 1)
                case .text(nil): try statement.bindNull(at: position + 1)
                case .text(let bytes?): try statement.bind(text: bytes, at: position + 1)
                case .bytes(let bytes): try statement.bind(blob: bytes, at: position + 1)
                }
            }
            try statement.run()
        }
    }

    private static func insertion(_ table: CopiedTable) -> String {
        guard table.name != CopiedTable.fileSchema else {
            return "UPDATE server_file SET schema = ?1 WHERE file_id = ?2"
        }
        let columns = table.columns.map(\.name).joined(separator: ", ")
        let places = (1...table.columns.count).map { "?\($0)" }.joined(separator: ", ")
        return "INSERT INTO \(table.name) (\(columns)) VALUES (\(places))"
    }
}
