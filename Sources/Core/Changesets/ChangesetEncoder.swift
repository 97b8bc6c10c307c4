/// Writes the records of a changeset; the mirror of `ChangesetDecoder` (changesets spec, 3-5).
struct ChangesetEncoder {
    private var writer = ByteWriter()

    var bytes: [UInt8] { writer.bytes }
    var sizeInBytes: Int { writer.bytes.count }

    mutating func reserve(_ count: Int) {
        writer.reserve(count)
    }

    mutating func writeInternRecord(_ index: InternIndex, _ text: Text) {
        writer.writeUnsigned(InstructionCode.internString)
        write(index)
        write(text)
    }

    mutating func write(_ instruction: Instruction) {
        writer.writeUnsigned(UInt64(instruction.code.rawValue))
        switch instruction {
        case .addTable(let table):
            write(table)
        case .eraseTable(let className):
            write(className)
        case .createObject(let target), .eraseObject(let target):
            write(target)
        case .update(let update):
            write(update)
        case .addInteger(let target, let amount):
            write(target)
            writer.writeSigned(amount)
        case .addColumn(let column):
            write(column)
        case .eraseColumn(let className, let field):
            write(className)
            write(field)
        case .arrayInsert(let target, let payload, let priorSize):
            write(target)
            write(payload)
            write(priorSize)
        case .arrayMove(let target, let to, let priorSize):
            write(target)
            write(to)
            write(priorSize)
        case .arrayErase(let target, let priorSize):
            write(target)
            write(priorSize)
        case .clear(let target, let collection):
            write(target)
            write(collection)
        case .setInsert(let target, let payload):
            write(target)
            write(payload)
        case .setErase(let erase):
            write(erase.target)
            write(erase.payload)
        }
    }
}

// MARK: Instructions with a tail

extension ChangesetEncoder {
    private mutating func write(_ table: Instruction.AddTable) {
        write(table.className)
        switch table.kind {
        case .topLevel(let column):
            writer.writeUnsigned(0)
            write(column)
        case .embedded:
            writer.writeUnsigned(1)
        case .asymmetric(let column):
            writer.writeUnsigned(2)
            write(column)
        }
    }

    private mutating func write(_ column: Instruction.AddTable.PrimaryKeyColumn) {
        write(column.field)
        write(column.type.typeCode)
        writer.writeBool(column.isNullable)
    }

    private mutating func write(_ update: Instruction.Update) {
        write(update.target)
        write(update.payload)
        switch update.detail {
        case .isDefault(let isDefault): writer.writeBool(isDefault)
        case .priorSize(let priorSize): write(priorSize)
        }
    }

    private mutating func write(_ column: Instruction.AddColumn) {
        write(column.className)
        write(column.field)
        write(column.type)
        writer.writeBool(column.isNullable)
        write(column.collection)
        if let linkTarget = column.linkTarget { write(linkTarget) }
        if let keyType = column.keyType { write(keyType) }
    }
}

extension ChangesetEncoder {
    /// An Update of a field itself, by far the most frequent instruction, without the values that
    /// it would be made of.
    mutating func writeUpdate(
        of field: InternIndex,
        in object: Instruction.ObjectTarget,
        to payload: Payload,
        isDefault: Bool
    ) {
        writer.writeUnsigned(UInt64(InstructionCode.update.rawValue))
        write(object)
        write(field)
        // No path.
        writer.writeUnsigned(0)
        write(payload)
        writer.writeBool(isDefault)
    }
}

extension ChangesetEncoder {
    /// The common beginning of the records of all Updates of an object.
    func beginning(ofUpdatesOf object: Instruction.ObjectTarget) -> [UInt8] {
        var encoder = ChangesetEncoder()
        encoder.writer.writeUnsigned(UInt64(InstructionCode.update.rawValue))
        encoder.write(object)
        return encoder.bytes
    }

    /// An Update of a field itself, which is not a default.
    mutating func writeUpdate(of field: InternIndex, _ beginning: [UInt8], to payload: Payload) {
        beginUpdate(of: field, beginning)
        write(payload)
        writer.writeBool(false)
    }

    /// The same with a string.
    mutating func writeUpdate(
        of field: InternIndex,
        _ beginning: [UInt8],
        toString text: UnsafeBufferPointer<UInt8>
    ) {
        beginUpdate(of: field, beginning)
        write(TypeCode.string)
        writer.writeUnsigned(UInt64(text.count))
        writer.write(text)
        writer.writeBool(false)
    }

    private mutating func beginUpdate(of field: InternIndex, _ beginning: [UInt8]) {
        writer.write(beginning)
        write(field)
        // No path.
        writer.writeUnsigned(0)
    }
}

// MARK: Shared structures

extension ChangesetEncoder {
    private mutating func write(_ target: Instruction.ObjectTarget) {
        write(target.className)
        write(target.key)
    }

    private mutating func write(_ target: Instruction.PathTarget) {
        write(target.object)
        write(target.field)
        writer.writeUnsigned(UInt64(target.path.count))
        for element in target.path {
            switch element {
            case .index(let index):
                writer.writeSigned(Int64(index))
            case .string(let index):
                writer.writeSigned(-1)
                write(index)
            }
        }
    }

    private mutating func write(_ key: PrimaryKey) {
        switch key {
        case .null:
            write(TypeCode.null)
        case .int(let value):
            write(TypeCode.int)
            writer.writeSigned(value)
        case .string(let index):
            write(TypeCode.string)
            write(index)
        case .globalKey(let key):
            write(TypeCode.globalKey)
            writer.writeUnsigned(key.high)
            writer.writeUnsigned(key.low)
        case .objectID(let value):
            write(TypeCode.objectID)
            value.write(to: &writer)
        case .uuid(let value):
            write(TypeCode.uuid)
            value.write(to: &writer)
        }
    }

    private mutating func write(_ payload: Payload) {
        write(payload.typeCode)
        switch payload {
        case .null, .objectValue, .dictionary, .list, .set, .erased:
            break
        case .int(let value):
            writer.writeSigned(value)
        case .bool(let value):
            writer.writeBool(value)
        case .string(let text):
            write(text)
        case .binary(let bytes):
            writer.writeUnsigned(UInt64(bytes.count))
            writer.write(bytes)
        case .timestamp(let timestamp):
            writer.writeSigned(timestamp.seconds)
            writer.writeSigned(Int64(timestamp.nanoseconds))
        case .float(let value):
            writer.writeLittleEndian(value.bitPattern)
        case .double(let value):
            writer.writeLittleEndian(value.bitPattern)
        case .decimal(let value):
            writer.writeCoefficient(high: value.coefficientHigh, low: value.coefficientLow)
            writer.writeSigned(Int64(value.exponent))
            writer.writeSigned(value.isNegative ? 1 : 0)
        case .link(let className, let key):
            write(className)
            write(key)
        case .objectID(let value):
            value.write(to: &writer)
        case .uuid(let value):
            value.write(to: &writer)
        }
    }
}

// MARK: Primitives

extension ChangesetEncoder {
    private mutating func write(_ index: InternIndex) {
        writer.writeUnsigned(UInt64(index.rawValue))
    }

    private mutating func write(_ code: TypeCode) {
        writer.writeSigned(Int64(code.rawValue))
    }

    private mutating func write(_ collection: CollectionType) {
        writer.writeUnsigned(UInt64(collection.rawValue))
    }

    private mutating func write(_ size: UInt32) {
        writer.writeUnsigned(UInt64(size))
    }

    private mutating func write(_ text: Text) {
        writer.writeUnsigned(UInt64(text.bytes.count))
        writer.write(text.bytes)
    }
}

extension Changeset {
    /// The binary form: the whole string table, unused entries included, then the instructions;
    /// empty if there is no instruction (changesets spec, 9, "re-encoder").
    package func encoded() -> [UInt8] {
        guard !instructions.isEmpty else { return [] }
        var encoder = ChangesetEncoder()
        encoder.reserve(16 * instructions.count)
        for (index, text) in strings.texts.enumerated() {
            encoder.writeInternRecord(InternIndex(UInt32(index)), text)
        }
        for instruction in instructions {
            encoder.write(instruction)
        }
        return encoder.bytes
    }
}
