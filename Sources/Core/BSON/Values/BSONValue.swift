package import Changesets

/// A value of BSON: what a MongoDB document holds (moving an app, 6.1).
///
/// Equality compares representations: NaN equals itself if its bits do.
package enum BSONValue: Hashable, Sendable {
    case double(DoubleBits)
    case string(Text)
    case document(BSONDocument)
    case array([BSONValue])
    /// Without the length that the old subtype 2 repeats inside.
    case binary(subtype: UInt8, [UInt8])
    case undefined
    case objectID(ObjectID)
    case bool(Bool)
    /// Milliseconds since 1970.
    case date(Int64)
    case null
    case regularExpression(pattern: Text, options: Text)
    case pointer(collection: Text, ObjectID)
    case code(Text)
    case symbol(Text)
    case codeWithScope(Text, BSONDocument)
    case int32(Int32)
    /// The type of internal timestamps: seconds in the upper, a counter in the lower half.
    case timestamp(UInt64)
    case int64(Int64)
    case decimal(Decimal128)
    case minKey
    case maxKey

    package static func double(_ value: Double) -> BSONValue { .double(DoubleBits(value)) }
}

/// The fields of a document, in their order. Names may repeat.
package struct BSONDocument: Hashable, Sendable {
    package var fields: [BSONField]

    package init(_ fields: [BSONField] = []) {
        self.fields = fields
    }

    /// The last field of that name.
    package subscript(name: Text) -> BSONValue? {
        fields.last { $0.name == name }?.value
    }

    package mutating func append(_ name: Text, _ value: BSONValue) {
        fields.append(BSONField(name: name, value: value))
    }
}

package struct BSONField: Hashable, Sendable {
    package var name: Text
    package var value: BSONValue

    package init(name: Text, value: BSONValue) {
        self.name = name
        self.value = value
    }
}

/// The codes in front of the elements of a document.
enum BSONType: UInt8 {
    case double = 0x01
    case string = 0x02
    case document = 0x03
    case array = 0x04
    case binary = 0x05
    case undefined = 0x06
    case objectID = 0x07
    case bool = 0x08
    case date = 0x09
    case null = 0x0a
    case regularExpression = 0x0b
    case pointer = 0x0c
    case code = 0x0d
    case symbol = 0x0e
    case codeWithScope = 0x0f
    case int32 = 0x10
    case timestamp = 0x11
    case int64 = 0x12
    case decimal = 0x13
    case minKey = 0xff
    case maxKey = 0x7f

    /// The subtype of binary data whose length is repeated inside.
    static let oldBinary: UInt8 = 2
}

/// The bounds of documents (moving an app, 10).
package enum BSONLimits {
    /// The four bytes of the length and the zero at the end.
    package static let smallestDocument = 5
    /// 16 MiB, and room for what a server adds.
    package static let largestDocument = (16 << 20) + (16 << 10)
    /// Documents and arrays around a value.
    package static let depth = 200
}
