/// A 16-byte UUID, in the byte order of its text (changesets spec, 2.7).
package struct UniqueID: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Nil unless there are exactly 16 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        self.low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Sixteen zero bytes: the default of a required property (instruction semantics, 1.5).
    package static let zero = UniqueID(high: 0, low: 0)

    package var bytes: [UInt8] {
        BigEndian.bytes(of: high) + BigEndian.bytes(of: low)
    }
}

extension UniqueID: Comparable {
    package static func < (left: UniqueID, right: UniqueID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension UniqueID: CustomStringConvertible {
    /// 36 characters in lower case, grouped 8-4-4-4-12.
    package var description: String {
        let digits = Array(Hexadecimal.text(of: bytes))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
            .map { String(digits[$0]) }
            .joined(separator: "-")
    }

    /// Reads the 8-4-4-4-12 form in either case.
    package init?(_ text: some StringProtocol) {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
            let bytes = Hexadecimal.bytes(of: groups.joined()),
            let value = UniqueID(bytes: bytes)
        else { return nil }
        self = value
    }
}
