/// Floating-point numbers as text, both ways.
enum FloatingText {
    /// Reads a float token, without the suffix `f`. Rounds to the nearest; infinity beyond the
    /// range.
    static func double(_ text: ArraySlice<UInt8>) -> Double {
        Double(normalized(text)) ?? 0
    }

    static func float(_ text: ArraySlice<UInt8>) -> Float {
        Float(normalized(text)) ?? 0
    }

    /// With digits on both sides of the point.
    private static func normalized(_ text: ArraySlice<UInt8>) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count + 2)
        for (index, byte) in zip(text.indices, text) {
            let isPoint = byte == UInt8(ascii: ".")
            if isPoint, bytes.last?.isASCIIDigit != true { bytes.append(UInt8(ascii: "0")) }
            bytes.append(byte)
            let next = index + 1 < text.endIndex ? text[index + 1] : nil
            if isPoint, next?.isASCIIDigit != true { bytes.append(UInt8(ascii: "0")) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// As `%.<precision>g` of C: `1.5`, `1e+308`, `100`, `nan`, `-inf`.
    static func print(_ value: Double, precision: Int) -> String {
        let sign = value.sign == .minus ? "-" : ""
        if value.isNaN { return sign + "nan" }
        if value.isInfinite { return sign + "inf" }
        if value == 0 { return sign + "0" }
        let decimal = DecimalDigits(value.magnitude, precision: precision)
        var digits = decimal.digits
        while digits.count > 1, digits.last == 0 { digits.removeLast() }
        let text = digits.map { Character(UnicodeScalar(0x30 + $0)) }
        guard (-4..<precision).contains(decimal.exponent) else {
            let magnitude = String(decimal.exponent.magnitude)
            let exponent = (magnitude.count < 2 ? "0" : "") + magnitude
            return sign + String(text[0]) + (text.count > 1 ? "." : "") + String(text.dropFirst())
                + (decimal.exponent < 0 ? "e-" : "e+") + exponent
        }
        if decimal.exponent < 0 {
            return sign + "0." + String(repeating: "0", count: -decimal.exponent - 1) + String(text)
        }
        let whole = decimal.exponent + 1
        if text.count <= whole {
            return sign + String(text) + String(repeating: "0", count: whole - text.count)
        }
        return sign + String(text[..<whole]) + "." + String(text[whole...])
    }
}

/// The leading decimal digits of a positive number, rounded exactly, ties to even.
struct DecimalDigits {
    /// 0 ... 9 each, at most `precision` of them.
    let digits: [UInt8]
    /// The power of ten of the first digit.
    let exponent: Int

    init(_ value: Double, precision: Int) {
        // value = significand * 2^twos; below one, 2^-n is 5^n / 10^n.
        let isNormal = value.exponentBitPattern > 0
        let significand = value.significandBitPattern | (isNormal ? 1 << 52 : 0)
        let twos = Int(max(value.exponentBitPattern, 1)) - 1075
        var number = LargeNatural(significand)
        number.multiply(by: twos < 0 ? 5 : 2, times: abs(twos))
        let all = number.decimalDigits
        let point = twos < 0 ? -twos : 0
        guard all.count > precision else {
            self.digits = all
            self.exponent = all.count - 1 - point
            return
        }
        var kept = Array(all[..<precision])
        let rest = all[precision...]
        let isAboveHalf = rest.first.map {
            $0 > 5 || $0 == 5 && rest.dropFirst().contains { $0 > 0 }
        }
        let isHalf = rest.first == 5 && !rest.dropFirst().contains { $0 > 0 }
        var carried = 0
        if isAboveHalf == true || isHalf && kept[precision - 1] % 2 == 1 {
            var index = precision - 1
            while index >= 0, kept[index] == 9 {
                kept[index] = 0
                index -= 1
            }
            if index >= 0 {
                kept[index] += 1
            } else {
                kept.insert(1, at: 0)
                kept.removeLast()
                carried = 1
            }
        }
        self.digits = kept
        self.exponent = all.count - 1 - point + carried
    }
}

/// A whole number of any size.
private struct LargeNatural {
    /// Base 10^9, from the lowest.
    private var limbs: [UInt32]

    private static let base: UInt64 = 1_000_000_000

    init(_ value: UInt64) {
        self.limbs = []
        var rest = value
        repeat {
            limbs.append(UInt32(rest % Self.base))
            rest /= Self.base
        } while rest > 0
    }

    /// Multiplies by a power of 2 or 5.
    mutating func multiply(by factor: UInt64, times: Int) {
        let atOnce = factor == 2 ? 29 : 12
        var left = times
        while left > 0 {
            let count = min(left, atOnce)
            var power: UInt64 = 1
            for _ in 0..<count { power *= factor }
            multiply(by: power)
            left -= count
        }
    }

    private mutating func multiply(by factor: UInt64) {
        var carry: UInt64 = 0
        for index in limbs.indices {
            let product = UInt64(limbs[index]) * factor + carry
            limbs[index] = UInt32(product % Self.base)
            carry = product / Self.base
        }
        while carry > 0 {
            limbs.append(UInt32(carry % Self.base))
            carry /= Self.base
        }
    }

    var decimalDigits: [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(limbs.count * 9)
        for limb in limbs {
            var rest = limb
            for _ in 0..<9 {
                digits.append(UInt8(rest % 10))
                rest /= 10
            }
        }
        while digits.count > 1, digits.last == 0 { digits.removeLast() }
        return digits.reversed()
    }
}
