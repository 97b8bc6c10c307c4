/// A 16-byte UUID, in the byte order of its text (changesets spec, 2.7).
public struct UniqueID: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// Nil unless there are exactly 16 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        self.low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Sixteen zero bytes: the default of a required property (instruction semantics, 1.5).
    package static let zero = UniqueID(high: 0, low: 0)

    package var bytes: [UInt8] {
        BigEndian.bytes(of: high) + BigEndian.bytes(of: low)
    }

    func write(to writer: inout ByteWriter) {
        writer.writeBigEndian(high)
        writer.writeBigEndian(low)
    }
}

extension UniqueID: Comparable {
    public static func < (left: UniqueID, right: UniqueID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension UniqueID: CustomStringConvertible {
    /// 36 characters in lower case, grouped 8-4-4-4-12, as ASCII.
    package var text: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        Hexadecimal.append(UInt32(truncatingIfNeeded: high >> 32), to: &text)
        for word in [high >> 16, high, low >> 48] {
            text.append(UInt8(ascii: "-"))
            Hexadecimal.append(UInt16(truncatingIfNeeded: word), to: &text)
        }
        text.append(UInt8(ascii: "-"))
        Hexadecimal.append(UInt16(truncatingIfNeeded: low >> 32), to: &text)
        Hexadecimal.append(UInt32(truncatingIfNeeded: low), to: &text)
        return text
    }

    public var description: String { String(decoding: text, as: UTF8.self) }

    /// Reads the 8-4-4-4-12 form in either case.
    package init?(text: [UInt8]) {
        var (high, low): (UInt64, UInt64) = (0, 0)
        var position = 0
        for character in text {
            defer { position += 1 }
            if position == 8 || position == 13 || position == 18 || position == 23 {
                guard character == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Hexadecimal.value(of: character), position < 36 else { return nil }
            if position < 18 {
                high = high << 4 | UInt64(digit)
            } else {
                low = low << 4 | UInt64(digit)
            }
        }
        guard position == 36 else { return nil }
        self.init(high: high, low: low)
    }

    /// The same from a string.
    public init?(_ text: some StringProtocol) {
        self.init(text: Array(text.utf8))
    }
}
