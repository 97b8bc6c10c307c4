internal import Changesets
internal import Documents
internal import Schemas

/// A class and the table that holds its objects.
struct ClassTable: Hashable {
    /// Number in `_realm_class`; part of the names of triggers, and of the log rows.
    let id: Int64
    let name: Text
    let tableName: String
    let key: PrimaryKeySchema
    /// In schema order, which is also the order of their ids.
    private(set) var columns: [Column] = []
    private var positionsByID: [Int64: Int] = [:]
    private var positionsByName: [Text: Int] = [:]

    init(id: Int64, name: Text, tableName: String, key: PrimaryKeySchema) {
        self.id = id
        self.name = name
        self.tableName = tableName
        self.key = key
    }

    /// The key's column, which is always the first.
    var keyColumn: String { key.name.description }

    func position(ofID id: Int64) -> Int? {
        positionsByID[id]
    }

    func position(of name: Text) -> Int? {
        positionsByName[name]
    }

    mutating func append(_ column: Column) {
        positionsByID[column.id] = columns.count
        positionsByName[column.name] = columns.count
        columns.append(column)
    }

    mutating func remove(at position: Int) {
        let rest = columns[..<position] + columns[(position + 1)...]
        columns = []
        positionsByID = [:]
        positionsByName = [:]
        for column in rest { append(column) }
    }
}

/// A property and the column that holds it.
struct Column: Hashable {
    /// Number in `_realm_property`; what a log row calls `prop`.
    let id: Int64
    let name: Text
    let columnName: String
    let type: ColumnType
    let isNullable: Bool
    let options: PropertyOptions

    /// What an object has that was created without a value (instruction semantics, 1.5).
    var typeDefault: Scalar {
        guard !isNullable, case .scalar(let type) = type else { return .null }
        return switch type {
        case .int: .int(0)
        case .bool: .bool(false)
        case .string: .string(.empty)
        case .binary: .binary([])
        case .timestamp: .timestamp(.epoch)
        case .float: .float(FloatBits(0))
        case .double: .double(DoubleBits(0))
        case .decimal: .decimal(.zero)
        case .objectID: .objectID(.zero)
        case .uuid: .uuid(.zero)
        }
    }

    /// Reads what the column holds.
    func decode(_ value: ColumnValue) throws(FormError) -> Scalar {
        switch type {
        case .scalar(let type):
            return try ColumnForm.decode(value, as: type, isNullable: isNullable)
        case .link(let target):
            return try ColumnForm.decodeLink(value, to: target).map(Scalar.link) ?? .null
        }
    }
}

/// What a column can hold, as far as local realms go by now.
enum ColumnType: Hashable {
    case scalar(ScalarType)
    case link(LinkTarget)
}
