import Changesets

extension BSONDocument {
    /// Reads one document that takes all of the bytes.
    package init(decoding bytes: some Collection<UInt8>) throws(BSONError) {
        var decoder = BSONDecoder(Array(bytes))
        self = try decoder.document(depth: 0)
        guard decoder.offset == decoder.bytes.count else {
            throw BSONError(.badLength(Int64(decoder.bytes.count)), at: 0)
        }
    }
}

/// Reads BSON. Every length is held to the bytes that are there before it sizes anything.
struct BSONDecoder {
    let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// - Parameter depth: the documents and arrays around this one.
    mutating func document(depth: Int) throws(BSONError) -> BSONDocument {
        var document = BSONDocument()
        try elements(depth: depth) { name, value in
            document.fields.append(BSONField(name: name, value: value))
        }
        return document
    }

    /// The names are positions, which need no check.
    private mutating func array(depth: Int) throws(BSONError) -> [BSONValue] {
        var values: [BSONValue] = []
        try elements(depth: depth) { _, value in values.append(value) }
        return values
    }

    private mutating func elements(
        depth: Int,
        _ add: (Text, BSONValue) -> Void
    ) throws(BSONError) {
        let start = offset
        guard depth < BSONLimits.depth else { throw BSONError(.nestedTooDeeply, at: start) }
        let length = Int(try int32())
        guard length >= BSONLimits.smallestDocument, length <= BSONLimits.largestDocument else {
            throw BSONError(.badLength(Int64(length)), at: start)
        }
        guard length <= bytes.count - start else { throw BSONError(.truncated, at: start) }
        let end = start + length
        while true {
            let code = try byte()
            if code == 0 { break }
            guard let type = BSONType(rawValue: code) else {
                throw BSONError(.unknownType(code), at: offset - 1)
            }
            let nameStart = offset
            let name = try cString()
            guard name.isUTF8 else { throw BSONError(.nameNotUTF8, at: nameStart) }
            add(name, try value(type, depth: depth))
            guard offset < end else { throw BSONError(.notTerminated, at: end - 1) }
        }
        guard offset == end else { throw BSONError(.badLength(Int64(length)), at: start) }
    }

    private mutating func value(_ type: BSONType, depth: Int) throws(BSONError) -> BSONValue {
        switch type {
        case .double: return .double(DoubleBits(bitPattern: try uint64()))
        case .string: return .string(try string())
        case .document: return .document(try document(depth: depth + 1))
        case .array: return .array(try array(depth: depth + 1))
        case .binary: return try binary()
        case .undefined: return .undefined
        case .objectID: return .objectID(try objectID())
        case .bool: return .bool(try byte() != 0)
        case .date: return .date(Int64(bitPattern: try uint64()))
        case .null: return .null
        case .regularExpression:
            let pattern = try cString()
            return .regularExpression(pattern: pattern, options: try cString())
        case .pointer:
            let collection = try string()
            return .pointer(collection: collection, try objectID())
        case .code: return .code(try string())
        case .symbol: return .symbol(try string())
        case .codeWithScope:
            // Its own length says nothing that its parts do not.
            _ = try int32()
            let code = try string()
            return .codeWithScope(code, try document(depth: depth + 1))
        case .int32: return .int32(try int32())
        case .timestamp: return .timestamp(try uint64())
        case .int64: return .int64(Int64(bitPattern: try uint64()))
        case .decimal:
            let low = try uint64()
            return .decimal(Decimal128(high: try uint64(), low: low))
        case .minKey: return .minKey
        case .maxKey: return .maxKey
        }
    }

    // MARK: Parts of values

    private mutating func binary() throws(BSONError) -> BSONValue {
        let start = offset
        let length = Int(try int32())
        let subtype = try byte()
        guard length >= 0 else { throw BSONError(.badLength(Int64(length)), at: start) }
        let content = Array(try take(length))
        // The old form of binary data repeats its length inside.
        guard subtype == BSONType.oldBinary, content.count >= 4,
            content.prefix(4).reversed().reduce(0, { $0 << 8 | Int($1) }) == content.count - 4
        else { return .binary(subtype: subtype, content) }
        return .binary(subtype: subtype, Array(content.dropFirst(4)))
    }

    private mutating func string() throws(BSONError) -> Text {
        let start = offset
        let length = Int(try int32())
        guard length >= 1 else { throw BSONError(.badLength(Int64(length)), at: start) }
        let content = try take(length)
        guard content.last == 0 else { throw BSONError(.notTerminated, at: offset - 1) }
        return Text(bytes: Array(content.dropLast()))
    }

    private mutating func cString() throws(BSONError) -> Text {
        guard let end = bytes[offset...].firstIndex(of: 0) else {
            throw BSONError(.truncated, at: offset)
        }
        defer { offset = end + 1 }
        return Text(bytes: Array(bytes[offset..<end]))
    }

    private mutating func objectID() throws(BSONError) -> ObjectID {
        ObjectID(bytes: try take(12)) ?? .zero
    }

    private mutating func take(_ count: Int) throws(BSONError) -> ArraySlice<UInt8> {
        guard count <= bytes.count - offset else { throw BSONError(.truncated, at: offset) }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    private mutating func byte() throws(BSONError) -> UInt8 {
        guard offset < bytes.count else { throw BSONError(.truncated, at: offset) }
        defer { offset += 1 }
        return bytes[offset]
    }

    private mutating func int32() throws(BSONError) -> Int32 {
        var number: UInt32 = 0
        for (position, byte) in try take(4).enumerated() {
            number |= UInt32(byte) << UInt32(8 * position)
        }
        return Int32(bitPattern: number)
    }

    private mutating func uint64() throws(BSONError) -> UInt64 {
        var number: UInt64 = 0
        for (position, byte) in try take(8).enumerated() {
            number |= UInt64(byte) << UInt64(8 * position)
        }
        return number
    }
}

extension Text {
    /// Most names are ASCII, which needs no validation.
    var isUTF8: Bool { bytes.allSatisfy { $0 < 0x80 } || string != nil }
}
