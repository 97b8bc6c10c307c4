import Testing

@testable import Changesets

@Suite("Integers on the wire")
struct VarintTests {
    private static func bytes(_ text: String) -> [UInt8] {
        Hexadecimal.bytes(of: text.filter { $0 != " " }) ?? []
    }

    private func read<Value>(
        _ bytes: [UInt8],
        _ body: (inout ByteReader) throws -> Value
    ) throws -> Value {
        try bytes.withUnsafeBufferPointer { buffer in
            var reader = ByteReader(buffer)
            let value = try body(&reader)
            #expect(reader.isAtEnd)
            return value
        }
    }

    /// The table of the changesets spec, 2.1.
    private static let signedRows: [(Int64, String)] = [
        (0, "00"), (1, "01"), (63, "3f"), (64, "c0 00"), (100, "e4 00"), (127, "ff 00"),
        (128, "80 01"), (300, "ac 02"), (8191, "ff 3f"), (8192, "80 c0 00"),
        (.max, "ff ff ff ff ff ff ff ff ff 00"), (-1, "40"), (-2, "41"), (-3, "42"), (-64, "7f"),
        (-65, "c0 40"), (-128, "ff 40"), (-500_000_000, "ff c9 b5 ee 41"),
        (-2_147_483_648, "ff ff ff ff 47"), (2_147_483_647, "ff ff ff ff 07"),
        (4_294_967_295, "ff ff ff ff 0f"), (.min, "ff ff ff ff ff ff ff ff ff 40"),
    ]

    @Test("Every row of the specification, both ways", arguments: signedRows)
    func signed(value: Int64, text: String) throws {
        let bytes = Self.bytes(text)
        var writer = ByteWriter()
        writer.writeSigned(value)
        #expect(writer.bytes == bytes)
        #expect(try read(bytes) { try $0.readSigned(.bits64) } == value)
        guard value >= 0 else { return }
        var unsigned = ByteWriter()
        unsigned.writeUnsigned(UInt64(value))
        #expect(unsigned.bytes == bytes)
        #expect(try read(bytes) { try $0.readUnsigned(.bits64) } == UInt64(value))
    }

    @Test("The largest unsigned number")
    func largestUnsigned() throws {
        let bytes = Self.bytes("ff ff ff ff ff ff ff ff ff 01")
        var writer = ByteWriter()
        writer.writeUnsigned(.max)
        #expect(writer.bytes == bytes)
        #expect(try read(bytes) { try $0.readUnsigned(.bits64) } == .max)
        #expect(throws: DecodeError.self) { try read(bytes) { try $0.readSigned(.bits64) } }
    }

    @Test("Overlong forms are read, up to the bytes of their class")
    func overlong() throws {
        #expect(try read([0x81, 0x80, 0x00]) { try $0.readSigned(.bits64) } == 1)
        #expect(try read([0x81, 0x00]) { try $0.readUnsigned(.bits8) } == 1)
        #expect(throws: DecodeError(at: 0, .integerOutOfRange)) {
            try read([0x81, 0x80, 0x00]) { try $0.readUnsigned(.bits8) }
        }
        let nine = [UInt8](repeating: 0x80, count: 9)
        #expect(try read(nine + [0]) { try $0.readUnsigned(.bits64) } == 0)
        #expect(throws: DecodeError(at: 0, .integerOutOfRange)) {
            try read(nine + [0x80, 0]) { try $0.readUnsigned(.bits64) }
        }
        let four = [UInt8](repeating: 0x80, count: 4)
        #expect(try read(four + [0]) { try $0.readUnsigned(.bits32) } == 0)
        #expect(throws: DecodeError(at: 0, .integerOutOfRange)) {
            try read(four + [0x80, 0]) { try $0.readUnsigned(.bits32) }
        }
    }

    @Test(
        "A number outside of its class is refused",
        arguments: [
            ("ac 02", .bits8), ("80 02", .bits8), ("ff ff ff ff 1f", .bits32),
            ("80 80 80 80 80 80 80 80 80 02", .bits64), ("ff ff ff ff ff ff ff ff ff 3f", .bits64),
        ] as [(String, IntegerWidth)]
    )
    func outOfRange(text: String, width: IntegerWidth) {
        #expect(throws: DecodeError(at: 0, .integerOutOfRange)) {
            try read(Self.bytes(text)) { try $0.readUnsigned(width) }
        }
    }

    @Test("Signed 32-bit numbers end at their bounds")
    func signed32() throws {
        #expect(
            try read(Self.bytes("ff ff ff ff 07")) { try $0.readSigned(.bits32) } == 1 << 31 - 1
        )
        #expect(try read(Self.bytes("ff ff ff ff 47")) { try $0.readSigned(.bits32) } == -(1 << 31))
        for text in ["80 80 80 80 08", "80 80 80 80 48"] {
            #expect(throws: DecodeError(at: 0, .integerOutOfRange)) {
                try read(Self.bytes(text)) { try $0.readSigned(.bits32) }
            }
        }
    }

    @Test("A negative number of an unsigned class is refused")
    func negative() {
        for width in [IntegerWidth.bits8, .bits32, .bits64] {
            #expect(throws: DecodeError(at: 0, .negative)) {
                try read([0x40]) { try $0.readUnsigned(width) }
            }
        }
    }

    @Test("Any byte-sized number but zero is true, and true is written as 1")
    func bools() throws {
        #expect(try read([5]) { try $0.readBool() })
        #expect(try read([0xff, 0x01]) { try $0.readBool() })
        #expect(try !read([0]) { try $0.readBool() })
        #expect(throws: DecodeError.self) { try read([0xac, 0x02]) { try $0.readBool() } }
        var writer = ByteWriter()
        writer.writeBool(true)
        writer.writeBool(false)
        #expect(writer.bytes == [1, 0])
    }

    @Test("A number that ends too early is refused where it ends")
    func truncated() {
        #expect(throws: DecodeError(at: 2, .truncated)) {
            try read([0x80, 0x80]) { try $0.readSigned(.bits64) }
        }
    }

    @Test(
        "The last byte of a decimal's coefficient has seven bits on the way in, six on the way out"
    )
    func coefficient() throws {
        let value = try read([0x7f]) { try $0.readCoefficient() }
        #expect(value == (0, 127))
        var writer = ByteWriter()
        writer.writeCoefficient(high: 0, low: 127)
        #expect(writer.bytes == [0xff, 0x00])
        #expect(throws: DecodeError(at: 0, .decimalOutOfRange)) {
            try read([UInt8](repeating: 0x80, count: 17) + [0]) { try $0.readCoefficient() }
        }
    }
}
