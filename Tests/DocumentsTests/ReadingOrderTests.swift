import Changesets
import Documents
import TestSupport
import Testing

/// Instruction semantics, 1.7.
@Suite("The order and equality of set elements")
struct ReadingOrderTests {
    private static func double(_ value: Double) -> Scalar { .double(DoubleBits(value)) }
    private static func float(_ value: Float) -> Scalar { .float(FloatBits(value)) }

    private static func decimal(
        _ coefficient: UInt64,
        _ exponent: Int32,
        isNegative: Bool = false
    ) -> Scalar {
        .decimal(
            Decimal128(
                coefficientHigh: 0,
                coefficientLow: coefficient,
                exponent: exponent,
                isNegative: isNegative
            ) ?? .zero
        )
    }

    private static let infinity = Scalar.decimal(.init(high: 0x7800_0000_0000_0000, low: 0))

    /// In reading order; elements of one group are equal.
    private static let groups: [[Scalar]] = [
        [.null],
        [.bool(false)], [.bool(true)],
        [.float(FloatBits(bitPattern: 0x7fc0_0000))], [.float(FloatBits(bitPattern: 0xffc0_0000))],
        [.double(DoubleBits(bitPattern: 0x7ff8_0000_0000_0000))],
        [.double(DoubleBits(bitPattern: 0x7ff8_0000_0000_0001))],
        [.decimal(.init(high: 0x7c00_0000_0000_0000, low: 0))],
        [double(-.infinity), float(-.infinity)],
        [decimal(1, 400, isNegative: true)],
        [double(-.greatestFiniteMagnitude)],
        [.int(.min), double(-9_223_372_036_854_775_808)],
        [.int(-1), double(-1), float(-1), decimal(10, -1, isNegative: true)],
        [double(-.leastNonzeroMagnitude)],
        [decimal(1, -6176, isNegative: true)],
        [.int(0), double(0), double(-0.0), float(-0.0), decimal(0, 5), decimal(0, -6176)],
        [decimal(1, -400)],
        [double(.leastNonzeroMagnitude)],
        // The double nearest to 0.1 lies above it, the float further above.
        [decimal(1, -1), decimal(100, -3)], [double(0.1)], [float(0.1)],
        [.int(1), double(1), float(1), decimal(1, 0), decimal(1000, -3)],
        [.int(9_007_199_254_740_992), double(9_007_199_254_740_992)],
        [.int(9_007_199_254_740_993), decimal(9_007_199_254_740_993, 0)],
        [.int(9_007_199_254_740_994), double(9_007_199_254_740_994)],
        [.int(.max)], [double(9_223_372_036_854_775_808)],
        [double(1e22), decimal(1, 22)],
        [decimal(1, 23)], [double(1e23.nextUp)],
        [double(.greatestFiniteMagnitude)],
        [decimal(1, 6000)],
        [double(.infinity), float(.infinity), infinity],
        [.string("")], [.string("a")], [.string("a\0")], [.string("ab")], [.string("b")],
        [.string(Text(bytes: [0xff]))],
        [.binary([])], [.binary([0])], [.binary([0, 0])], [.binary([1])],
        [.timestamp(Timestamp(seconds: -1, nanoseconds: -1) ?? .epoch)],
        [.timestamp(Timestamp(seconds: -1, nanoseconds: 0) ?? .epoch)],
        [.timestamp(.epoch)],
        [.timestamp(Timestamp(seconds: 0, nanoseconds: 1) ?? .epoch)],
        [.objectID(.zero)],
        [.objectID(ObjectID("5f63e882536de46d71877979") ?? .zero)],
        [.uuid(.zero)],
        [.link(.init(className: "A", key: .null))], [.link(.init(className: "A", key: .int(-1)))],
        [.link(.init(className: "A", key: .int(1)))],
        [.link(.init(className: "A", key: .string("")))],
        [.link(.init(className: "B", key: .null))],
    ]

    @Test("Every value compares to every other as its group does")
    func totalOrder() {
        for (leftPosition, leftGroup) in Self.groups.enumerated() {
            for (rightPosition, rightGroup) in Self.groups.enumerated() {
                let expected: Order =
                    leftPosition < rightPosition
                    ? .ascending : leftPosition > rightPosition ? .descending : .same
                for left in leftGroup {
                    for right in rightGroup {
                        #expect(left.readingOrder(to: right) == expected, "\(left) \(right)")
                    }
                }
            }
        }
    }

    @Test("A set keeps the first value of each group, sorted")
    func setOfEverything() {
        for seed in UInt64(0)..<20 {
            var random = SplitMix64(seed: seed)
            var set = ValueSet()
            for (position, group) in Self.groups.enumerated().shuffled(using: &random) {
                for element in group {
                    #expect(set.insert(element) == (element == group[0]), "seed \(seed)")
                }
                #expect(group.allSatisfy(set.contains), "seed \(seed), \(position)")
            }
            #expect(set.elements == Self.groups.map { $0[0] }, "seed \(seed)")
            for group in Self.groups.shuffled(using: &random) {
                let last = group[group.count - 1]
                let erased = set.erase(last)
                #expect(erased, "seed \(seed)")
                let again = set.erase(last)
                #expect(!again, "seed \(seed)")
            }
            #expect(set.isEmpty)
        }
    }

    @Test("Doubles and decimals of the same digits compare as exact fractions do")
    func randomNumbers() {
        for seed in UInt64(0)..<500 {
            var random = SplitMix64(seed: seed)
            // Halves and quarters are exact in both bases.
            let quarters = Int64.random(in: -1_000_000...1_000_000, using: &random)
            let exact = Self.double(Double(quarters) / 4)
            let same = Self.decimal(
                UInt64(quarters.magnitude) * 25,
                -2,
                isNegative: quarters < 0
            )
            #expect(exact.readingOrder(to: same) == .same, "seed \(seed)")
            let next = Self.double((Double(quarters) / 4).nextUp)
            #expect(same.readingOrder(to: next) == .ascending, "seed \(seed)")
            #expect(next.readingOrder(to: same) == .descending, "seed \(seed)")
        }
    }
}
