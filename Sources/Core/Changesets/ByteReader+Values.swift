/// The values that records consist of (changesets spec, 2 and 4).
extension ByteReader {
    /// An index into a string table of that size.
    mutating func readInternIndex(below count: Int) throws(DecodeError) -> InternIndex {
        let start = offset
        let index = try readUnsigned(.bits32)
        guard index < count else { throw DecodeError(at: start, .undefinedInternIndex(index)) }
        return InternIndex(UInt32(index))
    }

    mutating func readTypeCode() throws(DecodeError) -> TypeCode {
        let start = offset
        let code = try readSigned(.bits64)
        guard let type = Int8(exactly: code).flatMap(TypeCode.init(rawValue:)) else {
            throw DecodeError(at: start, .unknownPayload(code))
        }
        return type
    }

    /// A primary key in a changeset whose string table has that size.
    mutating func readPrimaryKey(strings count: Int) throws(DecodeError) -> PrimaryKey {
        let start = offset
        let code = try readSigned(.bits64)
        switch Int8(exactly: code).flatMap(TypeCode.init(rawValue:)) {
        case .null: return .null
        case .int: return .int(try readSigned(.bits64))
        case .string: return .string(try readInternIndex(below: count))
        case .globalKey: return .globalKey(try readGlobalKey())
        case .objectID: return .objectID(try readObjectID())
        case .uuid: return .uuid(try readUniqueID())
        default: throw DecodeError(at: start, .unknownPrimaryKey(code))
        }
    }

    /// The target of an instruction on an object.
    mutating func readTarget(strings count: Int) throws(DecodeError) -> Instruction.ObjectTarget {
        .init(
            className: try readInternIndex(below: count),
            key: try readPrimaryKey(strings: count)
        )
    }

    /// The length of a string, which may be longer than the bytes left.
    mutating func readTextLength() throws(DecodeError) -> UInt64 {
        let start = offset
        let length = try readUnsigned(.bits64)
        guard length <= FormatLimits.stringSizeInBytes else {
            throw DecodeError(at: start, .stringTooLong(length))
        }
        return length
    }

    mutating func readTimestamp() throws(DecodeError) -> Timestamp {
        let start = offset
        let seconds = try readSigned(.bits64)
        let nanoseconds = try readSigned(.bits64)
        guard let timestamp = Timestamp(seconds: seconds, nanoseconds: nanoseconds) else {
            throw DecodeError(at: start, .timestampOutOfRange)
        }
        return timestamp
    }

    mutating func readDecimal() throws(DecodeError) -> Decimal128 {
        let start = offset
        let coefficient = try readCoefficient()
        let exponent = try readSigned(.bits32)
        let sign = try readSigned(.bits32)
        if sign != 0, sign != 1 { noteOtherForm() }
        let decimal = Decimal128(
            coefficientHigh: coefficient.high,
            coefficientLow: coefficient.low,
            exponent: Int32(exponent),
            isNegative: sign != 0
        )
        guard let decimal else { throw DecodeError(at: start, .decimalOutOfRange) }
        return decimal
    }

    mutating func readObjectID() throws(DecodeError) -> ObjectID {
        guard remaining >= 12 else { throw DecodeError(at: offset, .truncated) }
        return ObjectID(
            high: try readBigEndian(UInt64.self),
            low: try readBigEndian(UInt32.self)
        )
    }

    mutating func readUniqueID() throws(DecodeError) -> UniqueID {
        guard remaining >= 16 else { throw DecodeError(at: offset, .truncated) }
        return UniqueID(
            high: try readBigEndian(UInt64.self),
            low: try readBigEndian(UInt64.self)
        )
    }

    mutating func readGlobalKey() throws(DecodeError) -> GlobalKey {
        GlobalKey(high: try readUnsigned(.bits64), low: try readUnsigned(.bits64))
    }
}
