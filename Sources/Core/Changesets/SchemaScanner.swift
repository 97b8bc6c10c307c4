/// Looks for instructions that change classes or properties, and steps over all others (changesets
/// spec, 3-5). Much cheaper than decoding: it keeps no string and no instruction.
struct SchemaScanner {
    private var reader: ByteReader

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.reader = ByteReader(bytes)
    }

    mutating func findsSchemaInstruction() throws(DecodeError) -> Bool {
        while !reader.isAtEnd {
            let start = reader.offset
            let code = try reader.readUnsigned(.bits64)
            if code == InstructionCode.internString {
                try skipNumber()
                try skipBytes()
                continue
            }
            guard let code = UInt8(exactly: code).flatMap(InstructionCode.init(rawValue:)) else {
                throw DecodeError(at: start, .unknownInstruction(code))
            }
            switch code {
            case .addTable, .eraseTable, .addColumn, .eraseColumn: return true
            default: try skipObjectInstruction(code)
            }
        }
        return false
    }

    private mutating func skipObjectInstruction(_ code: InstructionCode) throws(DecodeError) {
        try skipNumber()
        try skipKey()
        if code == .createObject || code == .eraseObject { return }
        try skipNumber()
        try skipPath()
        switch code {
        case .addInteger, .arrayErase, .clear:
            try skipNumber()
        case .arrayMove:
            try skipNumber()
            try skipNumber()
        case .update, .arrayInsert:
            try skipPayload()
            try skipNumber()
        default:
            try skipPayload()
        }
    }

    private mutating func skipPath() throws(DecodeError) {
        let count = try reader.readUnsigned(.bits32)
        for _ in 0..<count {
            if try reader.readSigned(.bits64) < 0 { try skipNumber() }
        }
    }

    private mutating func skipKey() throws(DecodeError) {
        let start = reader.offset
        let code = try reader.readSigned(.bits64)
        switch Int8(exactly: code).flatMap(TypeCode.init(rawValue:)) {
        case .null: break
        case .int, .string: try skipNumber()
        case .globalKey:
            try skipNumber()
            try skipNumber()
        case .objectID: try reader.skip(12)
        case .uuid: try reader.skip(16)
        default: throw DecodeError(at: start, .unknownPrimaryKey(code))
        }
    }

    private mutating func skipPayload() throws(DecodeError) {
        let start = reader.offset
        let code = try reader.readSigned(.bits64)
        switch Int8(exactly: code).flatMap(TypeCode.init(rawValue:)) {
        case .null, .objectValue, .dictionary, .list, .set, .erased: break
        case .int, .bool: try skipNumber()
        case .string, .binary: try skipBytes()
        case .timestamp:
            try skipNumber()
            try skipNumber()
        case .float: try reader.skip(4)
        case .double: try reader.skip(8)
        case .decimal:
            _ = try reader.readCoefficient()
            try skipNumber()
            try skipNumber()
        case .link:
            try skipNumber()
            try skipKey()
        case .objectID: try reader.skip(12)
        case .uuid: try reader.skip(16)
        case .globalKey, nil: throw DecodeError(at: start, .unknownPayload(code))
        }
    }

    private mutating func skipBytes() throws(DecodeError) {
        try reader.skip(try reader.readUnsigned(.bits64))
    }

    private mutating func skipNumber() throws(DecodeError) {
        try reader.skipVarint()
    }
}

extension Changeset {
    /// Whether an encoded changeset may have instructions that change classes or properties. Also
    /// true for damaged ones, as far as they are noticed.
    package static func mayChangeSchema(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            var scanner = SchemaScanner(buffer)
            do throws(DecodeError) {
                return try scanner.findsSchemaInstruction()
            } catch {
                return true
            }
        }
    }
}
