/// A value that fits one payload: null, a scalar, or a link; independent of any string table.
///
/// Equality compares representations, so NaN equals itself if its bits do, and 0.0 differs from
/// -0.0.
package enum Scalar: Hashable, Sendable {
    case null
    case int(Int64)
    case bool(Bool)
    case string(Text)
    case binary([UInt8])
    case timestamp(Timestamp)
    case float(FloatBits)
    case double(DoubleBits)
    case decimal(Decimal128)
    case link(ObjectReference)
    case objectID(ObjectID)
    case uuid(UniqueID)
}

/// A 32-bit float that keeps and compares its bits (changesets spec, 2.3).
package struct FloatBits: Hashable, Sendable {
    package let bitPattern: UInt32

    package init(bitPattern: UInt32) {
        self.bitPattern = bitPattern
    }

    package init(_ value: Float) {
        self.bitPattern = value.bitPattern
    }

    package var value: Float { Float(bitPattern: bitPattern) }
}

/// A 64-bit float that keeps and compares its bits (changesets spec, 2.3).
package struct DoubleBits: Hashable, Sendable {
    package let bitPattern: UInt64

    package init(bitPattern: UInt64) {
        self.bitPattern = bitPattern
    }

    package init(_ value: Double) {
        self.bitPattern = value.bitPattern
    }

    package var value: Double { Double(bitPattern: bitPattern) }
}
