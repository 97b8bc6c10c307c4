import Changesets

/// Doubles and floats as text: the shortest digits that read back as the same number, and names for
/// values that no JSON number can represent (local realm, 2).
enum FloatText {
    /// The text of a value that JSON numbers cannot represent, or that could lose its sign.
    static func special(_ value: DoubleBits) -> [UInt8]? {
        if value.value.isNaN {
            return NaNText.print(value.bitPattern, quiet: NaNText.quietDouble)
        }
        return special(value.value)
    }

    static func special(_ value: FloatBits) -> [UInt8]? {
        if value.value.isNaN {
            return NaNText.print(value.bitPattern, quiet: NaNText.quietFloat)
        }
        return special(value.value)
    }

    private static func special<Value: BinaryFloatingPoint>(_ value: Value) -> [UInt8]? {
        if value.isInfinite {
            return Array((value.sign == .minus ? "-Infinity" : "Infinity").utf8)
        }
        return value.isZero && value.sign == .minus ? Array("-0.0".utf8) : nil
    }

    /// `1.5`, `1.0`, `1e+16`: always a JSON number that is not spelled like an integer.
    static func print(_ value: DoubleBits) -> String { value.value.description }

    static func print(_ value: FloatBits) -> String { value.value.description }

    static func bytes(_ value: DoubleBits) -> [UInt8] { Array(print(value).utf8) }

    static func bytes(_ value: FloatBits) -> [UInt8] { Array(print(value).utf8) }

    /// Reads names and numbers.
    static func parseDouble(_ text: [UInt8]) -> DoubleBits? {
        if let bits = NaNText.parse(text, quiet: NaNText.quietDouble) {
            return Double(bitPattern: bits).isNaN ? DoubleBits(bitPattern: bits) : nil
        }
        return parse(text).map { DoubleBits($0) }
    }

    static func parseFloat(_ text: [UInt8]) -> FloatBits? {
        if let bits = NaNText.parse(text, quiet: NaNText.quietFloat) {
            return Float(bitPattern: bits).isNaN ? FloatBits(bitPattern: bits) : nil
        }
        return parse(text).map { FloatBits($0) }
    }

    private static func parse<Value: BinaryFloatingPoint & LosslessStringConvertible>(
        _ text: [UInt8]
    ) -> Value? {
        switch text {
        case Array("Infinity".utf8): return .infinity
        case Array("-Infinity".utf8): return -.infinity
        default: break
        }
        // The library's own parser also reads "inf", "0x1p3" and the like.
        let isNumber = text.allSatisfy { byte in
            byte.isASCIIDigit || "+-.eE".utf8.contains(byte)
        }
        guard isNumber, let value = Value(String(decoding: text, as: UTF8.self)),
            value.isFinite
        else { return nil }
        return value
    }
}
