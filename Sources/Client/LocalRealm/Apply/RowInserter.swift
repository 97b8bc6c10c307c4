internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Inserts objects of one class, and binds their values at their place in the bytes of the changeset.
///
/// A class, because it keeps for all objects what it has looked up for one.
final class RowInserter {
    private let owner: ClassSchema
    private let key: PrimaryKeySchema
    private let columns: [DirectColumn?]
    private let linkTargets: [LinkTarget?]
    /// The columns of new objects that are not NULL, by property.
    private let initials: [(property: Int, parameter: Int, value: ColumnValue)]
    private let insertion: TableStatements.Insertion
    private let strings: StringTable
    private let bytes: UnsafeRawBufferPointer
    /// Positions of the properties in their class, by names in the changeset.
    private var positions: [Position]
    /// For each property, the number of the last row that got a value for it.
    private var lastRows: [Int]
    private var row = 0

    private enum Position {
        case unknown
        case none
        case property(Int)
    }

    /// The bytes are those of the changeset with these strings, and outlive the inserter.
    init(
        _ owner: ClassSchema,
        _ plan: ClassPlan,
        _ table: ClassTable,
        _ insertion: TableStatements.Insertion,
        _ strings: StringTable,
        _ bytes: UnsafeRawBufferPointer
    ) {
        self.owner = owner
        self.key = table.key
        self.columns = plan.properties.map(\.direct)
        self.linkTargets = plan.properties.map(\.linkTarget)
        self.initials = plan.properties.enumerated().filter { $1.initial != .null }.map {
            ($0, TableStatements.Insertion.parameter(ofColumn: $1.column), $1.initial)
        }
        self.insertion = insertion
        self.strings = strings
        self.bytes = bytes
        self.positions = Array(repeating: .unknown, count: strings.count)
        self.lastRows = Array(repeating: 0, count: plan.properties.count)
    }

    /// False if the object exists, or is not of this simple kind; then nothing is changed.
    func insert(_ object: PlainObject) throws(SQLiteError) -> Bool {
        guard object.isCreated, try bind(object) else {
            insertion.statement.reset()
            return false
        }
        return try insertion.run()
    }

    private func bind(_ object: PlainObject) throws(SQLiteError) -> Bool {
        row += 1
        guard try bind(object.key, as: key, at: TableStatements.Insertion.keyParameter) else {
            return false
        }
        for field in object.fields {
            guard let property = position(of: field.name), let column = columns[property],
                try bind(field.value, of: property, column)
            else { return false }
        }
        for initial in initials where lastRows[initial.property] != row {
            try insertion.statement.bind(initial.value, at: initial.parameter)
        }
        return true
    }

    private func position(of name: InternIndex) -> Int? {
        let index = Int(name.rawValue)
        switch positions[index] {
        case .property(let position):
            return position
        case .none:
            return nil
        case .unknown:
            let position = owner.position(of: strings[name])
            positions[index] = position.map { .property($0) } ?? .none
            return position
        }
    }
}

// MARK: Values

extension RowInserter {
    /// False if the value does not fit, or what it becomes depends on the one before.
    private func bind(
        _ value: PlainObject.Value,
        of property: Int,
        _ column: DirectColumn
    ) throws(SQLiteError) -> Bool {
        let (statement, parameter) = (insertion.statement, column.parameter)
        switch (value, column.form) {
        case (.null, _), (.decimal(.referenceNull), _):
            guard column.acceptsNull else { return false }
            try statement.bindNull(at: parameter)
        case (.int(let value), .scalar(.int)):
            try statement.bind(value, at: parameter)
        case (.bool(let value), .scalar(.bool)):
            try statement.bind(Int64(value ? 1 : 0), at: parameter)
        case (.string(let range), .scalar(.string)):
            try statement.bind(textInPlace: content(range), at: parameter)
        case (.binary(let range), .scalar(.binary)):
            guard range.count <= FormatLimits.binarySizeInBytes else { return false }
            try statement.bind(blobInPlace: content(range), at: parameter)
        case (.timestamp(let value), .scalar(.timestamp)):
            try statement.bindText(at: parameter, capacity: ColumnForm.timestampCapacity) {
                ColumnForm.write(value, into: $0)
            }
        case (.float(let bits), .scalar(.float)):
            if bits.value == 0 { return try bindZero(Double(bits.value), of: property, column) }
            try statement.bind(ColumnForm.encode(.float(bits)), at: parameter)
        case (.double(let bits), .scalar(.double)):
            if bits.value == 0 { return try bindZero(bits.value, of: property, column) }
            try statement.bind(ColumnForm.encode(.double(bits)), at: parameter)
        case (.decimal(let value), .scalar(.decimal)):
            try statement.bind(ColumnForm.encode(.decimal(value)), at: parameter)
        case (.link(let className, let key), .link):
            guard let target = linkTargets[property], strings[className] == target.className
            else { return false }
            guard key != .null else {
                guard target.key.isNullable else { return false }
                try statement.bind(blob: [], at: parameter)
                break
            }
            guard try bind(key, as: target.key, at: parameter) else { return false }
        case (.objectID(let value), .scalar(.objectID)):
            try bind(value, at: parameter)
        case (.uuid(let value), .scalar(.uuid)):
            try statement.bind(text: value.text, at: parameter)
        default:
            return false
        }
        lastRows[property] = row
        return true
    }

    /// A zero leaves another zero with its sign as it is (instruction semantics, 3.16).
    private func bindZero(
        _ zero: Double,
        of property: Int,
        _ column: DirectColumn
    ) throws(SQLiteError) -> Bool {
        guard lastRows[property] != row else { return false }
        if column.startsAsZero { return true }
        try insertion.statement.bind(zero, at: column.parameter)
        lastRows[property] = row
        return true
    }

    private func bind(
        _ key: PrimaryKey,
        as schema: PrimaryKeySchema,
        at parameter: Int
    ) throws(SQLiteError) -> Bool {
        switch (key, schema.type) {
        case (.null, _):
            guard schema.isNullable else { return false }
            try insertion.statement.bindNull(at: parameter)
        case (.int(let value), .int):
            try insertion.statement.bind(value, at: parameter)
        case (.string(let index), .string):
            try insertion.statement.bind(text: strings[index].bytes, at: parameter)
        case (.objectID(let value), .objectID):
            try bind(value, at: parameter)
        case (.uuid(let value), .uuid):
            try insertion.statement.bind(text: value.text, at: parameter)
        case (.globalKey(let value), .globalKey):
            try insertion.statement.bind(ColumnForm.encodeKey(.globalKey(value)), at: parameter)
        default:
            return false
        }
        return true
    }

    private func bind(_ value: ObjectID, at parameter: Int) throws(SQLiteError) {
        try insertion.statement.bindText(at: parameter, capacity: ObjectID.textLength) {
            value.writeText(into: $0)
        }
    }

    private func content(_ range: PlainObject.ByteRange) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[range.bounds])
    }
}
