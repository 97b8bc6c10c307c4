/// A whole number of any size, with the operations that comparing needs.
struct BigNatural {
    /// From the lowest to the highest, which is not zero.
    private var limbs: [UInt32] = []

    /// `value * 2^twos * 10^tens`.
    init(_ value: UInt128, twos: Int, tens: Int) {
        limbs = [UInt32](repeating: 0, count: twos / 32)
        var rest = value
        while rest > 0 {
            limbs.append(UInt32(truncatingIfNeeded: rest))
            rest >>= 32
        }
        multiply(by: 1 << UInt32(twos % 32))
        for _ in 0..<tens / 9 { multiply(by: 1_000_000_000) }
        for _ in 0..<tens % 9 { multiply(by: 10) }
    }

    private mutating func multiply(by factor: UInt32) {
        var carry: UInt64 = 0
        for index in limbs.indices {
            let product = UInt64(limbs[index]) * UInt64(factor) + carry
            limbs[index] = UInt32(truncatingIfNeeded: product)
            carry = product >> 32
        }
        if carry > 0 { limbs.append(UInt32(carry)) }
    }

    func order(to other: BigNatural) -> Order {
        guard limbs.count == other.limbs.count else {
            return Order(limbs.count, other.limbs.count)
        }
        for (left, right) in zip(limbs.reversed(), other.limbs.reversed()) where left != right {
            return Order(left, right)
        }
        return .same
    }
}
