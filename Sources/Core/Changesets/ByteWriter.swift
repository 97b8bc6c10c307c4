/// Writes the primitive encodings, always in their shortest form (changesets spec, 2).
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func reserve(_ count: Int) {
        bytes.reserveCapacity(count)
    }

    mutating func write(_ value: [UInt8]) {
        bytes.append(contentsOf: value)
    }

    mutating func write(_ value: UnsafeBufferPointer<UInt8>) {
        bytes.append(contentsOf: value)
    }

    mutating func writeSigned(_ value: Int64) {
        let isNegative = value < 0
        // -(v + 1) does not overflow, not even for the minimum.
        writeVarint(UInt64(isNegative ? -(value + 1) : value), isNegative: isNegative)
    }

    mutating func writeUnsigned(_ value: UInt64) {
        writeVarint(value, isNegative: false)
    }

    mutating func writeBool(_ value: Bool) {
        bytes.append(value ? 1 : 0)
    }

    mutating func writeBigEndian(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func writeLittleEndian<Integer: FixedWidthInteger & UnsignedInteger>(_ value: Integer)
    {
        for shift in stride(from: 0, to: Integer.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    mutating func writeCoefficient(high: UInt64, low: UInt64) {
        var rest = UInt128(high) << 64 | UInt128(low)
        while rest >> 6 != 0 {
            bytes.append(0x80 | UInt8(truncatingIfNeeded: rest & 0x7f))
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    @inline(__always)
    private mutating func writeVarint(_ value: UInt64, isNegative: Bool) {
        // Codes, indexes of names and most lengths.
        if value < 64 {
            bytes.append((isNegative ? 0x40 : 0) | UInt8(truncatingIfNeeded: value))
        } else {
            writeLongVarint(value, isNegative: isNegative)
        }
    }

    private mutating func writeLongVarint(_ value: UInt64, isNegative: Bool) {
        var rest = value
        while rest >> 6 != 0 {
            bytes.append(0x80 | UInt8(truncatingIfNeeded: rest & 0x7f))
            rest >>= 7
        }
        bytes.append((isNegative ? 0x40 : 0) | UInt8(truncatingIfNeeded: rest))
    }
}
