internal import Documents
internal import SQLite

extension Statement {
    func bind(_ value: ColumnValue, at position: Int) throws(SQLiteError) {
        switch value {
        case .null: try bindNull(at: position)
        case .integer(let value): try bind(value, at: position)
        case .real(let value): try bind(value, at: position)
        case .text(let bytes): try bind(text: bytes, at: position)
        case .blob(let bytes): try bind(blob: bytes, at: position)
        }
    }

    func columnValue(at column: Int) -> ColumnValue {
        switch storageClass(at: column) {
        case .null: .null
        case .integer: .integer(integer(at: column))
        case .real: .real(real(at: column))
        case .text: .text(bytes(at: column))
        case .blob: .blob(bytes(at: column))
        }
    }

    /// Whether the column holds that value, compared without copying it.
    func holds(_ value: ColumnValue, at column: Int) -> Bool {
        switch (value, storageClass(at: column)) {
        case (.null, .null): true
        case (.integer(let value), .integer): integer(at: column) == value
        case (.real(let value), .real): real(at: column) == value
        case (.text(let bytes), .text), (.blob(let bytes), .blob):
            withBytes(at: column) { $0.elementsEqual(bytes) }
        default: false
        }
    }
}
