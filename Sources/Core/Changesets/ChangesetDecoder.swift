/// Parses the binary form of a changeset (changesets spec, 3-7).
///
/// Total: every input gives a changeset or a `DecodeError` with its offset. No allocation is sized
/// by a number that was not checked against the bytes left.
struct ChangesetDecoder {
    private var reader: ByteReader
    private var strings = StringTable()
    private var instructions: [Instruction] = []
    /// Length so far of the buffer in which the reference keeps all strings and binaries (spec, 8).
    private var bufferLength: UInt64 = 0
    private var records = RecordLayout()
    /// Whether an instruction changes classes or properties.
    private(set) var changesSchema = false

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.reader = ByteReader(bytes)
    }

    mutating func decode() throws(DecodeError) -> Changeset {
        while !reader.isAtEnd {
            try readRecord()
        }
        return Changeset(strings: strings, instructions: instructions)
    }

    var layout: RecordLayout {
        var layout = records
        layout.isReencodedAlike = reader.isShortestForm
        return layout
    }

    private mutating func readRecord() throws(DecodeError) {
        let start = reader.offset
        let code = try reader.readUnsigned(.bits64)
        if code == InstructionCode.internString {
            try readInternRecord()
            return records.addInternRecord(
                start..<reader.offset,
                isLeading: instructions.isEmpty
            )
        }
        guard let code = UInt8(exactly: code).flatMap(InstructionCode.init(rawValue:)) else {
            throw DecodeError(at: start, .unknownInstruction(code))
        }
        switch code {
        case .addTable, .eraseTable, .addColumn, .eraseColumn: changesSchema = true
        default: break
        }
        instructions.append(try readInstruction(code))
    }

    private mutating func readInternRecord() throws(DecodeError) {
        let start = reader.offset
        let index = try reader.readUnsigned(.bits32)
        guard index == strings.count else {
            throw DecodeError(at: start, .unexpectedInternIndex(index, expected: strings.count))
        }
        let text = try readText()
        guard strings.index(of: text) == nil else {
            throw DecodeError(at: start, .duplicateInternString)
        }
        _ = strings.intern(text)
    }

    private mutating func readInstruction(
        _ code: InstructionCode
    ) throws(DecodeError) -> Instruction {
        switch code {
        case .addTable:
            return .addTable(try readAddTable())
        case .eraseTable:
            return .eraseTable(className: try readInternIndex())
        case .createObject:
            return .createObject(try readObjectTarget())
        case .eraseObject:
            return .eraseObject(try readObjectTarget())
        case .update:
            return .update(try readUpdate())
        case .addInteger:
            return .addInteger(try readPathTarget(), amount: try reader.readSigned(.bits64))
        case .addColumn:
            return .addColumn(try readAddColumn())
        case .eraseColumn:
            return .eraseColumn(className: try readInternIndex(), field: try readInternIndex())
        case .arrayInsert:
            let target = try readIndexTarget()
            let (payload, _) = try readPayload()
            return .arrayInsert(target, payload, priorSize: try readSize())
        case .arrayMove:
            return .arrayMove(
                try readIndexTarget(),
                to: try readSize(),
                priorSize: try readSize()
            )
        case .arrayErase:
            return .arrayErase(try readIndexTarget(), priorSize: try readSize())
        case .clear:
            return .clear(try readPathTarget(), try readCollectionType())
        case .setInsert:
            let target = try readPathTarget()
            return .setInsert(target, try readPayload().payload)
        case .setErase:
            let target = try readPathTarget()
            let (payload, offset) = try readPayload()
            return .setErase(.init(target: target, payload: payload, bufferOffset: offset))
        }
    }
}

// MARK: Instructions with a tail

extension ChangesetDecoder {
    private mutating func readAddTable() throws(DecodeError) -> Instruction.AddTable {
        let className = try readInternIndex()
        let start = reader.offset
        let kind = try reader.readUnsigned(.bits8)
        switch kind {
        case 0:
            return .init(className: className, kind: .topLevel(try readPrimaryKeyColumn()))
        case 1:
            return .init(className: className, kind: .embedded)
        case 2:
            return .init(className: className, kind: .asymmetric(try readPrimaryKeyColumn()))
        default:
            throw DecodeError(at: start, .unknownTableKind(kind))
        }
    }

    private mutating func readPrimaryKeyColumn() throws(DecodeError)
        -> Instruction.AddTable.PrimaryKeyColumn
    {
        let field = try readInternIndex()
        let start = reader.offset
        let code = try reader.readTypeCode()
        guard let type = PrimaryKeyType(code) else {
            throw DecodeError(at: start, .illegalPrimaryKeyType(code))
        }
        return .init(field: field, type: type, isNullable: try reader.readBool())
    }

    private mutating func readUpdate() throws(DecodeError) -> Instruction.Update {
        let target = try readPathTarget()
        let (payload, _) = try readPayload()
        return Instruction.Update(
            target: target,
            payload: payload,
            detail: target.index == nil
                ? .isDefault(try reader.readBool())
                : .priorSize(try readSize())
        )
    }

    private mutating func readAddColumn() throws(DecodeError) -> Instruction.AddColumn {
        let className = try readInternIndex()
        let field = try readInternIndex()
        let type = try reader.readTypeCode()
        let isNullable = try reader.readBool()
        let collection = try readCollectionType()
        return Instruction.AddColumn(
            className: className,
            field: field,
            type: type,
            isNullable: isNullable,
            collection: collection,
            linkTarget: type == .link ? try readInternIndex() : nil,
            keyType: collection == .dictionary ? try reader.readTypeCode() : nil
        )
    }
}

// MARK: Shared structures

extension ChangesetDecoder {
    private mutating func readObjectTarget() throws(DecodeError) -> Instruction.ObjectTarget {
        .init(className: try readInternIndex(), key: try readPrimaryKey())
    }

    private mutating func readPathTarget() throws(DecodeError) -> Instruction.PathTarget {
        let object = try readObjectTarget()
        return .init(object: object, field: try readInternIndex(), path: try readPath())
    }

    private mutating func readIndexTarget() throws(DecodeError) -> Instruction.PathTarget {
        let start = reader.offset
        let target = try readPathTarget()
        guard target.index != nil else { throw DecodeError(at: start, .pathWithoutIndex) }
        return target
    }

    private mutating func readPath() throws(DecodeError) -> [PathElement] {
        let count = try reader.readUnsigned(.bits32)
        // Every element needs at least one byte.
        guard count <= UInt64(reader.remaining) else {
            throw DecodeError(at: reader.offset, .truncated)
        }
        var path: [PathElement] = []
        path.reserveCapacity(Int(count))
        for _ in 0..<count {
            let element = try reader.readSigned(.bits64)
            if element < -1 || element > UInt32.max { reader.noteOtherForm() }
            path.append(
                element < 0
                    ? .string(try readInternIndex())
                    : .index(UInt32(truncatingIfNeeded: element))
            )
        }
        return path
    }

    private mutating func readPrimaryKey() throws(DecodeError) -> PrimaryKey {
        try reader.readPrimaryKey(strings: strings.count)
    }

    /// A payload, and the position of its bytes in the string buffer if it has any.
    private mutating func readPayload() throws(DecodeError) -> (
        payload: Payload, bufferOffset: UInt64
    ) {
        let start = reader.offset
        let offset = bufferLength
        switch try reader.readTypeCode() {
        case .null: return (.null, 0)
        case .int: return (.int(try reader.readSigned(.bits64)), 0)
        case .bool: return (.bool(try reader.readBool()), 0)
        case .string: return (.string(try readText()), offset)
        case .binary: return (.binary(try readBinary()), offset)
        case .timestamp: return (.timestamp(try reader.readTimestamp()), 0)
        case .float: return (.float(.init(bitPattern: try reader.readLittleEndian(UInt32.self))), 0)
        case .double:
            return (.double(.init(bitPattern: try reader.readLittleEndian(UInt64.self))), 0)
        case .decimal: return (.decimal(try reader.readDecimal()), 0)
        case .link:
            return (.link(className: try readInternIndex(), key: try readPrimaryKey()), 0)
        case .objectID: return (.objectID(try reader.readObjectID()), 0)
        case .uuid: return (.uuid(try reader.readUniqueID()), 0)
        case .objectValue: return (.objectValue, 0)
        case .dictionary: return (.dictionary, 0)
        case .list: return (.list, 0)
        case .set: return (.set, 0)
        case .erased: return (.erased, 0)
        case .globalKey: throw DecodeError(at: start, .globalKeyAsPayload)
        }
    }
}

// MARK: Primitives

extension ChangesetDecoder {
    private mutating func readInternIndex() throws(DecodeError) -> InternIndex {
        try reader.readInternIndex(below: strings.count)
    }

    private mutating func readCollectionType() throws(DecodeError) -> CollectionType {
        let start = reader.offset
        let code = try reader.readUnsigned(.bits8)
        guard let type = CollectionType(rawValue: UInt8(code)) else {
            throw DecodeError(at: start, .unknownCollectionType(code))
        }
        return type
    }

    private mutating func readSize() throws(DecodeError) -> UInt32 {
        UInt32(try reader.readUnsigned(.bits32))
    }

    private mutating func readText() throws(DecodeError) -> Text {
        let length = try reader.readTextLength()
        bufferLength += length
        return Text(bytes: try reader.readBytes(length))
    }

    private mutating func readBinary() throws(DecodeError) -> [UInt8] {
        let bytes = try reader.readBytes(try reader.readUnsigned(.bits64))
        bufferLength += UInt64(bytes.count)
        return bytes
    }
}

extension ChangesetDecoder {
    static func decode(
        _ bytes: [UInt8]
    ) throws(DecodeError) -> (Changeset, RecordLayout, changesSchema: Bool) {
        let result: Result<(Changeset, RecordLayout, changesSchema: Bool), DecodeError> =
            bytes.withUnsafeBufferPointer { buffer in
                var decoder = ChangesetDecoder(buffer)
                do throws(DecodeError) {
                    let changeset = try decoder.decode()
                    return .success((changeset, decoder.layout, decoder.changesSchema))
                } catch {
                    return .failure(error)
                }
            }
        return try result.get()
    }
}

extension Changeset {
    /// Parses the binary form; the empty input is the empty changeset.
    package init(decoding bytes: [UInt8]) throws(DecodeError) {
        self = try ChangesetDecoder.decode(bytes).0
    }
}
