package import Changesets
package import Schemas

/// Converts between values and the columns of a local realm (local realm, 2, "Encodings").
///
/// Encoding writes the one canonical form; decoding accepts every form that applications may write.
package enum ColumnForm {
    /// The column form of a scalar, or of a link that is not null.
    package static func encode(_ scalar: Scalar) -> ColumnValue {
        switch scalar {
        case .null: .null
        case .int(let value): .integer(value)
        case .bool(let value): .integer(value ? 1 : 0)
        case .string(let value): .text(value.bytes)
        case .binary(let value): .blob(value)
        case .timestamp(let value): .text(TimestampText.print(value))
        case .float(let value): encode(value)
        case .double(let value): encode(value)
        case .decimal(let value): .text(DecimalText.print(value))
        case .link(let link): encodeLinkKey(link.key)
        case .objectID(let value): .text(value.text)
        case .uuid(let value): .text(value.text)
        }
    }

    /// Room for the text of any timestamp.
    package static let timestampCapacity = TimestampText.capacity

    /// Writes the column form of a timestamp to the start of a buffer with that capacity, and returns its
    /// length.
    package static func write(
        _ timestamp: Timestamp,
        into text: UnsafeMutableRawBufferPointer
    ) -> Int {
        TimestampText.write(timestamp, into: text)
    }

    /// Reads a column of a scalar type; the caller interprets NULL.
    package static func decode(
        _ column: ColumnValue,
        as type: ScalarType
    ) throws(FormError) -> Scalar {
        switch type {
        case .int: .int(try integer(column))
        case .bool: .bool(try bool(column))
        case .string: .string(try string(column))
        case .binary: .binary(try binary(column))
        case .timestamp: .timestamp(try timestamp(column))
        case .float: .float(try float(column))
        case .double: .double(try double(column))
        case .decimal: .decimal(try decimal(column))
        case .objectID: .objectID(try objectID(column))
        case .uuid: .uuid(try uuid(column))
        }
    }

    /// Reads a column of a scalar type, NULL included.
    package static func decode(
        _ column: ColumnValue,
        as type: ScalarType,
        isNullable: Bool
    ) throws(FormError) -> Scalar {
        if column == .null {
            guard isNullable else { throw FormError(.null) }
            return .null
        }
        return try decode(column, as: type)
    }
}

// MARK: Reading, type by type

extension ColumnForm {
    static func integer(_ column: ColumnValue) throws(FormError) -> Int64 {
        guard case .integer(let value) = column else { throw FormError(.expected(.integer)) }
        return value
    }

    private static func bool(_ column: ColumnValue) throws(FormError) -> Bool {
        switch column {
        case .integer(0): false
        case .integer(1): true
        default: throw FormError(.expected(.bool))
        }
    }

    static func string(_ column: ColumnValue) throws(FormError) -> Text {
        let bytes = try text(column, .text)
        guard bytes.count <= FormatLimits.stringSizeInBytes else {
            throw FormError(.stringTooLong(sizeInBytes: bytes.count))
        }
        return Text(bytes: bytes)
    }

    private static func binary(_ column: ColumnValue) throws(FormError) -> [UInt8] {
        guard case .blob(let bytes) = column else { throw FormError(.expected(.blob)) }
        guard bytes.count <= FormatLimits.binarySizeInBytes else {
            throw FormError(.binaryTooLong(sizeInBytes: bytes.count))
        }
        return bytes
    }

    private static func timestamp(_ column: ColumnValue) throws(FormError) -> Timestamp {
        guard let value = TimestampText.parse(try text(column, .timestamp)[...]) else {
            throw FormError(.expected(.timestamp))
        }
        return value
    }

    private static func decimal(_ column: ColumnValue) throws(FormError) -> Decimal128 {
        try DecimalText.parse(try text(column, .decimal)[...])
    }

    static func objectID(_ column: ColumnValue) throws(FormError) -> ObjectID {
        guard let value = ObjectID(text: try text(column, .objectID)) else {
            throw FormError(.expected(.objectID))
        }
        return value
    }

    static func uuid(_ column: ColumnValue) throws(FormError) -> UniqueID {
        guard let value = UniqueID(text: try text(column, .uuid)) else {
            throw FormError(.expected(.uuid))
        }
        return value
    }

    static func text(
        _ column: ColumnValue,
        _ form: ValueForm
    ) throws(FormError) -> [UInt8] {
        guard case .text(let bytes) = column else { throw FormError(.expected(form)) }
        return bytes
    }
}
