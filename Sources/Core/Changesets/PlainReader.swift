/// Reads a `PlainChangeset` object by object, in the order of classes and keys.
package struct PlainReader {
    private let changeset: PlainChangeset
    private let bytes: UnsafeBufferPointer<UInt8>
    private let stringCount: Int
    private var position = 0

    /// The reader is valid as long as the buffer, which holds the changeset's bytes.
    package init(_ changeset: PlainChangeset, _ bytes: UnsafeBufferPointer<UInt8>) {
        self.changeset = changeset
        self.bytes = bytes
        self.stringCount = changeset.strings.count
    }

    /// Reads all instructions on the next object into a value that is used again; false at the end.
    package mutating func read(_ object: inout PlainObject) throws(DecodeError) -> Bool {
        guard position < changeset.runs.count else { return false }
        let first = position
        object.fields.removeAll(keepingCapacity: true)
        try readRun(&object, isFirst: true)
        while position < changeset.runs.count, hasRun(of: object, after: first) {
            try readRun(&object, isFirst: false)
        }
        object.place = PlainObject.Place(runs: first..<position)
        return true
    }

    private func hasRun(of object: PlainObject, after first: Int) -> Bool {
        let (run, known) = (changeset.runs[position], changeset.runs[first])
        return run.keyPrefix == known.keyPrefix && run.className == known.className
            && run.target(in: bytes, strings: stringCount).key == object.key
    }

    private mutating func readRun(_ object: inout PlainObject, isFirst: Bool) throws(DecodeError) {
        let run = changeset.runs[position]
        position += 1
        var reader = ByteReader(bytes, at: Int(run.start))
        let code = try reader.readUnsigned(.bits64)
        let targetStart = reader.offset
        let target = try reader.readTarget(strings: stringCount)
        let targetLength = UInt64(reader.offset - targetStart)
        if isFirst {
            object.className = target.className
            object.key = target.key
            object.isCreated = code == InstructionCode.createObject.rawValue
        }
        if code == InstructionCode.update.rawValue { object.fields.append(try readField(&reader)) }
        while reader.offset < run.end {
            switch try reader.readUnsigned(.bits64) {
            case InstructionCode.internString:
                try reader.skipVarint()
                try reader.skip(try reader.readUnsigned(.bits64))
            case UInt64(InstructionCode.update.rawValue):
                try reader.skip(targetLength)
                object.fields.append(try readField(&reader))
            default:
                // The object is created once more, which changes nothing.
                try reader.skip(targetLength)
            }
        }
    }

    private func readField(
        _ reader: inout ByteReader
    ) throws(DecodeError) -> PlainObject.Field {
        let name = try reader.readInternIndex(below: stringCount)
        // No path.
        try reader.skipVarint()
        let value = try readValue(&reader)
        // Whether it is a default only matters to merges.
        try reader.skipVarint()
        return PlainObject.Field(name: name, value: value)
    }

    private func readValue(_ reader: inout ByteReader) throws(DecodeError) -> PlainObject.Value {
        let start = reader.offset
        switch try reader.readTypeCode() {
        case .null: return .null
        case .int: return .int(try reader.readSigned(.bits64))
        case .bool: return .bool(try reader.readBool())
        case .string: return .string(try readRange(&reader))
        case .binary: return .binary(try readRange(&reader))
        case .timestamp: return .timestamp(try reader.readTimestamp())
        case .float: return .float(.init(bitPattern: try reader.readLittleEndian(UInt32.self)))
        case .double: return .double(.init(bitPattern: try reader.readLittleEndian(UInt64.self)))
        case .decimal: return .decimal(try reader.readDecimal())
        case .link:
            return .link(
                className: try reader.readInternIndex(below: stringCount),
                key: try reader.readPrimaryKey(strings: stringCount)
            )
        case .objectID: return .objectID(try reader.readObjectID())
        case .uuid: return .uuid(try reader.readUniqueID())
        case .globalKey, .objectValue, .dictionary, .list, .set, .erased:
            throw DecodeError(at: start, .unknownPayload(Int64(bytes[start])))
        }
    }

    private func readRange(_ reader: inout ByteReader) throws(DecodeError) -> PlainObject.ByteRange
    {
        let count = try reader.readUnsigned(.bits64)
        let start = reader.offset
        try reader.skip(count)
        return PlainObject.ByteRange(start: UInt32(start), count: UInt32(count))
    }
}

/// All instructions of a `PlainChangeset` on one object.
package struct PlainObject {
    package fileprivate(set) var className = InternIndex(0)
    package fileprivate(set) var key = PrimaryKey.null
    /// Whether the first instruction creates it; otherwise it is expected to exist.
    package fileprivate(set) var isCreated = false
    /// In the order of the instructions; a later value of a field replaces an earlier one.
    package fileprivate(set) var fields: [Field] = []
    package fileprivate(set) var place = Place(runs: 0..<0)

    package init() {}

    /// The place of its instructions in the changeset.
    package struct Place {
        let runs: Range<Int>
    }

    package struct Field {
        package let name: InternIndex
        package let value: Value
    }

    /// A `Payload` without counted references: strings and binaries stay where they are.
    package enum Value {
        case null
        case int(Int64)
        case bool(Bool)
        case string(ByteRange)
        case binary(ByteRange)
        case timestamp(Timestamp)
        case float(FloatBits)
        case double(DoubleBits)
        case decimal(Decimal128)
        case link(className: InternIndex, key: PrimaryKey)
        case objectID(ObjectID)
        case uuid(UniqueID)
    }

    /// A part of the changeset's bytes.
    package struct ByteRange {
        let start: UInt32
        package let count: UInt32

        package var bounds: Range<Int> { Int(start)..<Int(start) + Int(count) }
    }
}
