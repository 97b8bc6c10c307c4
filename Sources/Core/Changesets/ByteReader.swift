/// Reads the primitive encodings, and locates errors in them (changesets spec, 2).
struct ByteReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var offset: Int
    /// Whether `ByteWriter` would write everything read so far with the same bytes.
    private(set) var isShortestForm = true

    /// Starts at an offset, which errors count, too.
    init(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    var isAtEnd: Bool { offset == bytes.count }
    var remaining: Int { bytes.count - offset }

    mutating func readByte() throws(DecodeError) -> UInt8 {
        guard offset < bytes.count else { throw DecodeError(at: offset, .truncated) }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func readBytes(_ count: UInt64) throws(DecodeError) -> [UInt8] {
        // The peer chose this number: check it against the bytes left before it sizes a buffer.
        guard count <= UInt64(remaining) else { throw DecodeError(at: offset, .truncated) }
        defer { offset += Int(count) }
        return Array(bytes[offset..<offset + Int(count)])
    }

    mutating func skip(_ count: UInt64) throws(DecodeError) {
        guard count <= UInt64(remaining) else { throw DecodeError(at: offset, .truncated) }
        offset += Int(count)
    }

    /// Steps over the bytes of an earlier part if they come again.
    mutating func skipRepetition(of earlier: Range<Int>) -> Bool {
        guard earlier.count <= remaining else { return false }
        let raw = UnsafeRawBufferPointer(bytes)
        var index = 0
        // Eight at a time: this runs for each instruction.
        while index + 8 <= earlier.count {
            let known = earlier.lowerBound + index
            guard
                raw.loadUnaligned(fromByteOffset: known, as: UInt64.self)
                    == raw.loadUnaligned(fromByteOffset: offset + index, as: UInt64.self)
            else { return false }
            index += 8
        }
        while index < earlier.count {
            guard raw[earlier.lowerBound + index] == raw[offset + index] else { return false }
            index += 1
        }
        offset += earlier.count
        return true
    }

    /// Steps over an integer of any width.
    mutating func skipVarint() throws(DecodeError) {
        while try readByte() >= 0x80 {}
    }

    @inline(__always)
    mutating func readSigned(_ width: IntegerWidth) throws(DecodeError) -> Int64 {
        // Most numbers are codes, indexes and lengths of one byte.
        if offset < bytes.count, bytes[offset] < 0x80 {
            defer { offset += 1 }
            let value = Int64(bytes[offset] & 0x3f)
            return bytes[offset] < 0x40 ? value : -value - 1
        }
        return try readLongSigned(width)
    }

    private mutating func readLongSigned(_ width: IntegerWidth) throws(DecodeError) -> Int64 {
        let start = offset
        let (magnitude, isNegative) = try readVarint(maximumBytes: width.maximumBytes)
        guard magnitude <= UInt64(Int64.max) else {
            throw DecodeError(at: start, .integerOutOfRange)
        }
        let value = isNegative ? -Int64(magnitude) - 1 : Int64(magnitude)
        guard width == .bits64 || Int64(Int32.min)...Int64(Int32.max) ~= value else {
            throw DecodeError(at: start, .integerOutOfRange)
        }
        return value
    }

    @inline(__always)
    mutating func readUnsigned(_ width: IntegerWidth) throws(DecodeError) -> UInt64 {
        if offset < bytes.count, bytes[offset] < 0x40 {
            defer { offset += 1 }
            return UInt64(bytes[offset])
        }
        return try readLongUnsigned(width)
    }

    private mutating func readLongUnsigned(_ width: IntegerWidth) throws(DecodeError) -> UInt64 {
        let start = offset
        let (value, isNegative) = try readVarint(maximumBytes: width.maximumBytes)
        guard !isNegative else { throw DecodeError(at: start, .negative) }
        guard value <= width.unsignedMaximum else {
            throw DecodeError(at: start, .integerOutOfRange)
        }
        return value
    }

    /// Any non-zero byte-sized number is true.
    mutating func readBool() throws(DecodeError) -> Bool {
        let value = try readUnsigned(.bits8)
        if value > 1 { noteOtherForm() }
        return value != 0
    }

    /// Notes that a value that was read is written with other bytes.
    mutating func noteOtherForm() {
        isShortestForm = false
    }

    mutating func readLittleEndian<Integer: FixedWidthInteger & UnsignedInteger>(
        _ type: Integer.Type
    ) throws(DecodeError) -> Integer {
        var value: Integer = 0
        guard Integer.bitWidth / 8 <= remaining else {
            throw DecodeError(at: offset, .truncated)
        }
        for shift in stride(from: 0, to: Integer.bitWidth, by: 8) {
            value |= Integer(try readByte()) << shift
        }
        return value
    }

    mutating func readBigEndian<Integer: FixedWidthInteger & UnsignedInteger>(
        _ type: Integer.Type
    ) throws(DecodeError) -> Integer {
        guard Integer.bitWidth / 8 <= remaining else {
            throw DecodeError(at: offset, .truncated)
        }
        var value: Integer = 0
        for _ in 0..<Integer.bitWidth / 8 { value = value << 8 | Integer(try readByte()) }
        return value
    }

    /// The decimal coefficient: seven bits from every byte, the last one included (spec, 2.6).
    mutating func readCoefficient() throws(DecodeError) -> (high: UInt64, low: UInt64) {
        let start = offset
        var value: UInt128 = 0
        for position in 0..<17 {
            let byte = try readByte()
            value |= UInt128(byte & 0x7f) << (7 * position)
            if byte < 0x80 {
                if byte >= 0x40 || isOverlong(byte, at: position) { noteOtherForm() }
                return (UInt64(truncatingIfNeeded: value >> 64), UInt64(truncatingIfNeeded: value))
            }
        }
        throw DecodeError(at: start, .decimalOutOfRange)
    }

    /// Whether the byte before the last one, at a position of the integer, could have ended it.
    private func isOverlong(_ last: UInt8, at position: Int) -> Bool {
        last == 0 && position > 0 && bytes[offset - 2] & 0x7f < 0x40
    }

    /// Seven bits from each continuation byte, six and the sign from the last.
    private mutating func readVarint(
        maximumBytes: Int
    ) throws(DecodeError) -> (magnitude: UInt64, isNegative: Bool) {
        let start = offset
        var value: UInt64 = 0
        for position in 0..<maximumBytes {
            let byte = try readByte()
            let shift = UInt64(7 * position)
            guard byte >= 0x80 else {
                let bits = UInt64(byte & 0x3f)
                guard (bits << shift) >> shift == bits else {
                    throw DecodeError(at: start, .integerOutOfRange)
                }
                if isOverlong(UInt8(bits), at: position) { noteOtherForm() }
                return (value | bits << shift, byte & 0x40 != 0)
            }
            // Only the last byte can overflow: nine groups of seven are 63 bits.
            value |= UInt64(byte & 0x7f) << shift
        }
        throw DecodeError(at: start, .integerOutOfRange)
    }
}

/// The width classes of the format's integers (changesets spec, 2.1).
enum IntegerWidth {
    case bits8, bits32, bits64

    /// The most bytes that a reader accepts.
    var maximumBytes: Int {
        switch self {
        case .bits8: 2
        case .bits32: 5
        case .bits64: 10
        }
    }

    var unsignedMaximum: UInt64 {
        switch self {
        case .bits8: UInt64(UInt8.max)
        case .bits32: UInt64(UInt32.max)
        case .bits64: .max
        }
    }
}
