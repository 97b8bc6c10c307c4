internal import Changesets
internal import Documents
internal import Schemas

/// Checks the object instructions of changesets against the schema, and folds them by class and
/// object; it needs no database (local realm, 5; instruction semantics, 2 and 3).
struct InstructionFolder {
    private let catalogue: Catalogue
    /// One for each table of the catalogue.
    private(set) var batches: [ObjectBatch]
    private var names = ResolvedNames()
    private var last: (target: Instruction.ObjectTarget, table: Int, object: Int)?

    init(_ catalogue: Catalogue) {
        self.catalogue = catalogue
        self.batches = Array(repeating: ObjectBatch(), count: catalogue.tables.count)
    }

    /// To be called before the instructions of each changeset: names are numbered anew in each.
    mutating func begin(_ strings: StringTable) {
        names = ResolvedNames(stringCount: strings.count)
        last = nil
    }

    /// Forgets the gathered actions.
    mutating func removeAll() {
        batches = Array(repeating: ObjectBatch(), count: batches.count)
        last = nil
    }

    mutating func fold(
        _ instruction: Instruction,
        _ changeset: Changeset
    ) throws(BadInstruction) {
        switch instruction {
        case .createObject(let target):
            let (table, object) = try object(target, changeset)
            batches[table].create(object)
        case .eraseObject(let target):
            let (table, object) = try object(target, changeset)
            batches[table].erase(object)
        case .update(let update):
            let (table, object, column) = try column(update.target, changeset)
            let value = try value(update.payload, of: table, column, changeset)
            guard batches[table].set(object, column, to: value) else { throw missing(table) }
        case .addInteger(let target, let amount):
            let (table, object, column) = try column(target, changeset)
            guard catalogue[table].columns[column].type == .scalar(.int) else {
                throw BadInstruction(.notAnInteger)
            }
            guard batches[table].add(object, column, amount) else { throw missing(table) }
        case .arrayInsert(let target, _, _), .arrayMove(let target, _, _),
            .arrayErase(let target, _), .clear(let target, _), .setInsert(let target, _):
            try refuseCollection(target, changeset)
        case .setErase(let erase):
            try refuseCollection(erase.target, changeset)
        case .addTable, .eraseTable, .addColumn, .eraseColumn:
            preconditionFailure("schema instructions are barriers")
        }
    }

    private func missing(_ table: Int) -> BadInstruction {
        BadInstruction(.missingObject(catalogue[table].name))
    }

    /// No property of a local realm holds a collection yet, so no such instruction fits.
    private mutating func refuseCollection(
        _ target: Instruction.PathTarget,
        _ changeset: Changeset
    ) throws(BadInstruction) {
        _ = try column(target, changeset, isPathAllowed: true)
        throw BadInstruction(target.path.isEmpty ? .wrongTarget : .deadEnd)
    }
}

// MARK: Finding the target

extension InstructionFolder {
    private mutating func object(
        _ target: Instruction.ObjectTarget,
        _ changeset: Changeset
    ) throws(BadInstruction) -> (table: Int, object: Int) {
        if let last, last.target == target { return (last.table, last.object) }
        let table = try table(target.className, changeset)
        let key = changeset.objectKey(target.key)
        guard catalogue[table].key.accepts(key) else {
            throw BadInstruction(.wrongKeyType(catalogue[table].name))
        }
        let object = batches[table].object(ColumnForm.encodeKey(key))
        last = (target, table, object)
        return (table, object)
    }

    private mutating func column(
        _ target: Instruction.PathTarget,
        _ changeset: Changeset,
        isPathAllowed: Bool = false
    ) throws(BadInstruction) -> (table: Int, object: Int, column: Int) {
        let (table, object) = try object(target.object, changeset)
        let column = try column(target.field, of: table, changeset)
        guard target.path.isEmpty || isPathAllowed else { throw BadInstruction(.deadEnd) }
        return (table, object, column)
    }
}

// MARK: Names

extension InstructionFolder {
    private mutating func table(
        _ index: InternIndex,
        _ changeset: Changeset
    ) throws(BadInstruction) -> Int {
        if let known = names.table(index) { return known }
        let name = changeset.text(index)
        guard let position = catalogue.position(of: name) else {
            throw BadInstruction(.unknownClass(name))
        }
        names.setTable(index, position)
        return position
    }

    private mutating func column(
        _ index: InternIndex,
        of table: Int,
        _ changeset: Changeset
    ) throws(BadInstruction) -> Int {
        if let known = names.column(index, of: table) { return known }
        let name = changeset.text(index)
        guard let position = catalogue[table].position(of: name) else {
            let className = catalogue[table].name
            throw BadInstruction(
                name == catalogue[table].key.name
                    ? .primaryKeyChange(className)
                    : .unknownProperty(name, in: className)
            )
        }
        names.setColumn(index, of: table, position)
        return position
    }
}

// MARK: Values

extension InstructionFolder {
    private func value(
        _ payload: Payload,
        of table: Int,
        _ position: Int,
        _ changeset: Changeset
    ) throws(BadInstruction) -> ColumnValue {
        let column = catalogue[table].columns[position]
        guard let scalar = changeset.scalar(payload) else {
            throw BadInstruction(.wrongPayload(payload.typeCode))
        }
        switch (scalar, column.type) {
        case (.null, _), (.decimal(.referenceNull), .scalar(.decimal)):
            guard column.isNullable else { throw BadInstruction(.nullNotAllowed) }
            return .null
        case (.link(let link), .link(let target)):
            guard link.className == target.className else {
                throw BadInstruction(.wrongLinkTarget(link.className))
            }
            guard target.key.accepts(link.key) else {
                throw BadInstruction(.wrongKeyType(link.className))
            }
        case (.binary(let bytes), .scalar(.binary)):
            guard bytes.count <= FormatLimits.binarySizeInBytes else {
                throw BadInstruction(.binaryTooLong(sizeInBytes: bytes.count))
            }
        case (.int, .scalar(.int)), (.bool, .scalar(.bool)), (.string, .scalar(.string)),
            (.timestamp, .scalar(.timestamp)), (.float, .scalar(.float)),
            (.double, .scalar(.double)), (.decimal, .scalar(.decimal)),
            (.objectID, .scalar(.objectID)), (.uuid, .scalar(.uuid)):
            break
        default:
            throw BadInstruction(.wrongPayload(payload.typeCode))
        }
        return ColumnForm.encode(scalar)
    }
}

/// Positions of classes and properties, by the numbers that one changeset gives to their names.
private struct ResolvedNames {
    private var tables: [Int?]
    private var columns: [Int: [Int?]] = [:]
    private let stringCount: Int

    init(stringCount: Int = 0) {
        self.stringCount = stringCount
        self.tables = Array(repeating: nil, count: stringCount)
    }

    func table(_ index: InternIndex) -> Int? {
        tables[Int(index.rawValue)]
    }

    mutating func setTable(_ index: InternIndex, _ position: Int) {
        tables[Int(index.rawValue)] = position
    }

    func column(_ index: InternIndex, of table: Int) -> Int? {
        columns[table]?[Int(index.rawValue)]
    }

    mutating func setColumn(_ index: InternIndex, of table: Int, _ position: Int) {
        columns[table, default: Array(repeating: nil, count: stringCount)][Int(index.rawValue)] =
            position
    }
}
