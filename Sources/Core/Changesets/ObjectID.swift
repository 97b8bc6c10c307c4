/// A 12-byte object identifier, in the byte order of its hexadecimal text (changesets spec, 2.7).
public struct ObjectID: Hashable, Sendable {
    let high: UInt64
    let low: UInt32

    /// Nil unless there are exactly 12 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 12 else { return nil }
        self.high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        self.low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt32($1) }
    }

    init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// Twelve zero bytes: the default of a required property (instruction semantics, 1.5).
    package static let zero = ObjectID(high: 0, low: 0)

    package var bytes: [UInt8] {
        BigEndian.bytes(of: high) + BigEndian.bytes(of: low)
    }

    func write(to writer: inout ByteWriter) {
        writer.writeBigEndian(high)
        writer.writeBigEndian(low)
    }
}

extension ObjectID: Comparable {
    public static func < (left: ObjectID, right: ObjectID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension ObjectID: CustomStringConvertible {
    /// 24 lower-case hexadecimal digits, as ASCII.
    package var text: [UInt8] {
        Array(unsafeUninitializedCapacity: Self.textLength) { text, count in
            count = writeText(into: UnsafeMutableRawBufferPointer(text))
        }
    }

    package static let textLength = 24

    /// Writes the same digits to the start of a buffer, and returns their number.
    package func writeText(into text: UnsafeMutableRawBufferPointer) -> Int {
        Hexadecimal.write(high, to: text, at: 0)
        Hexadecimal.write(low, to: text, at: 16)
        return Self.textLength
    }

    public var description: String { String(decoding: text, as: UTF8.self) }

    /// Reads exactly 24 hexadecimal digits of either case.
    package init?(text: [UInt8]) {
        guard text.count == 24 else { return nil }
        var (high, low): (UInt64, UInt32) = (0, 0)
        for (position, character) in text.enumerated() {
            guard let digit = Hexadecimal.value(of: character) else { return nil }
            if position < 16 {
                high = high << 4 | UInt64(digit)
            } else {
                low = low << 4 | UInt32(digit)
            }
        }
        self.init(high: high, low: low)
    }

    /// The same from a string.
    public init?(_ text: some StringProtocol) {
        self.init(text: Array(text.utf8))
    }
}
