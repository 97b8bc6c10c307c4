import Changesets

/// The text form of decimals in columns and JSON: every digit of the coefficient, so that 1.0 and
/// 1.00 remain two encodings of one number (local realm, 2, "Decimal").
enum DecimalText {
    static func print(_ decimal: Decimal128) -> [UInt8] {
        var text: [UInt8] = decimal.isNegative ? [UInt8(ascii: "-")] : []
        if decimal.magnitudeBits == Decimal128.infinity.magnitudeBits {
            text += Array("Infinity".utf8)
        } else if decimal.magnitudeBits == Decimal128.quietNaN.magnitudeBits {
            text += Array("NaN".utf8)
        } else if let coefficient = decimal.canonicalCoefficient {
            appendNumber(coefficient, exponent: Int(decimal.exponent), to: &text)
        } else {
            // A NaN with payload, or a coefficient above 34 digits: no number has these bits.
            text = Array("#".utf8) + Array(Hexadecimal.text(of: decimal.bigEndianBytes).utf8)
        }
        return text
    }

    static func parse(_ text: ArraySlice<UInt8>) throws(FormError) -> Decimal128 {
        if text.first == UInt8(ascii: "#") {
            return try parseBits(text.dropFirst())
        }
        var scanner = ByteScanner(text)
        let isNegative = scanner.skip(UInt8(ascii: "-"))
        if !isNegative { _ = scanner.skip(UInt8(ascii: "+")) }
        if scanner.peek?.isASCIIDigit != true, scanner.peek != UInt8(ascii: ".") {
            return try parseName(text[scanner.position...], isNegative: isNegative)
        }
        let number = try parseNumber(&scanner)
        guard scanner.isAtEnd else { throw FormError(.expected(.decimal)) }
        return try decimal(number, isNegative: isNegative)
    }

    /// The largest number of 34 digits.
    static let largestCoefficient: UInt128 = 9_999_999_999_999_999_999_999_999_999_999_999
    private static let digitLimit = 34
    private static let exponents = -6176...6111
}

// MARK: Writing

extension DecimalText {
    /// Plain notation if that needs neither padding zeros at the end nor more than five after the
    /// point; scientific otherwise.
    private static func appendNumber(
        _ coefficient: UInt128,
        exponent: Int,
        to text: inout [UInt8]
    ) {
        let digits = digits(of: coefficient)
        let adjusted = exponent + digits.count - 1
        if exponent == 0 {
            text += digits
        } else if exponent < 0, adjusted >= -6 {
            let point = digits.count + exponent
            if point > 0 {
                text += digits[..<point]
                text.append(UInt8(ascii: "."))
                text += digits[point...]
            } else {
                text += Array("0.".utf8)
                text += [UInt8](repeating: UInt8(ascii: "0"), count: -point)
                text += digits
            }
        } else {
            text.append(digits[0])
            if digits.count > 1 {
                text.append(UInt8(ascii: "."))
                text += digits[1...]
            }
            text += Array((adjusted < 0 ? "E" : "E+").utf8)
            text += Array(String(adjusted).utf8)
        }
    }

    private static func digits(of coefficient: UInt128) -> [UInt8] {
        // Two halves that fit a machine word each: dividing the whole by ten is slow.
        let half: UInt128 = 100_000_000_000_000_000
        let (high, low) = coefficient.quotientAndRemainder(dividingBy: half)
        let lowDigits = Array(String(UInt64(low)).utf8)
        guard high > 0 else { return lowDigits }
        let padding = [UInt8](repeating: UInt8(ascii: "0"), count: 17 - lowDigits.count)
        return Array(String(UInt64(high)).utf8) + padding + lowDigits
    }
}

// MARK: Reading

extension DecimalText {
    private struct Number {
        var coefficient: UInt128 = 0
        /// Digits of the coefficient, from the first non-zero one.
        var digitCount = 0
        var exponent = 0
    }

    private static func parseBits(_ digits: ArraySlice<UInt8>) throws(FormError) -> Decimal128 {
        guard digits.count == 32,
            let bytes = Hexadecimal.bytes(of: String(decoding: digits, as: UTF8.self))
        else { throw FormError(.expected(.decimal)) }
        return Decimal128(
            high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
        )
    }

    private static func parseName(
        _ name: ArraySlice<UInt8>,
        isNegative: Bool
    ) throws(FormError) -> Decimal128 {
        let value: Decimal128
        switch String(decoding: name, as: UTF8.self).lowercased() {
        case "nan": value = .quietNaN
        case "infinity", "inf": value = .infinity
        default: throw FormError(.expected(.decimal))
        }
        return isNegative ? value.negated : value
    }

    private static func parseNumber(_ scanner: inout ByteScanner) throws(FormError) -> Number {
        var number = Number()
        var hasDigits = false
        while let digit = scanner.digit() {
            hasDigits = true
            try append(digit, to: &number)
        }
        if scanner.skip(UInt8(ascii: ".")) {
            while let digit = scanner.digit() {
                hasDigits = true
                try append(digit, to: &number)
                number.exponent -= 1
            }
        }
        guard hasDigits else { throw FormError(.expected(.decimal)) }
        if scanner.skip(UInt8(ascii: "E")) || scanner.skip(UInt8(ascii: "e")) {
            number.exponent += try parseExponent(&scanner)
        }
        return number
    }

    private static func append(_ digit: UInt8, to number: inout Number) throws(FormError) {
        if number.digitCount > 0 || digit > 0 { number.digitCount += 1 }
        guard number.digitCount <= digitLimit else { throw FormError(.decimalTooPrecise) }
        number.coefficient = 10 * number.coefficient + UInt128(digit)
    }

    private static func parseExponent(_ scanner: inout ByteScanner) throws(FormError) -> Int {
        let isNegative = scanner.skip(UInt8(ascii: "-"))
        if !isNegative { _ = scanner.skip(UInt8(ascii: "+")) }
        guard var value = scanner.digit().map(Int.init) else {
            throw FormError(.expected(.decimal))
        }
        while let digit = scanner.digit() {
            // Far out of range, the exact exponent does not matter.
            value = min(10 * value + Int(digit), 1_000_000_000)
        }
        return isNegative ? -value : value
    }

    /// Moves zeros between coefficient and exponent if that brings the exponent into its range.
    private static func decimal(
        _ number: Number,
        isNegative: Bool
    ) throws(FormError) -> Decimal128 {
        var (coefficient, exponent) = (number.coefficient, number.exponent)
        if coefficient == 0 {
            exponent = min(max(exponent, exponents.lowerBound), exponents.upperBound)
        }
        while exponent > exponents.upperBound, coefficient * 10 <= largestCoefficient {
            coefficient *= 10
            exponent -= 1
        }
        while exponent < exponents.lowerBound, coefficient % 10 == 0 {
            coefficient /= 10
            exponent += 1
        }
        guard exponents.contains(exponent),
            let decimal = Decimal128(
                coefficientHigh: UInt64(truncatingIfNeeded: coefficient >> 64),
                coefficientLow: UInt64(truncatingIfNeeded: coefficient),
                exponent: Int32(exponent),
                isNegative: isNegative
            )
        else { throw FormError(.decimalOutOfRange) }
        return decimal
    }
}

// MARK: The encodings with a text form

extension Decimal128 {
    static let infinity = Decimal128(high: 0x7800_0000_0000_0000, low: 0)
    static let quietNaN = Decimal128(high: 0x7c00_0000_0000_0000, low: 0)

    var negated: Decimal128 { Decimal128(high: high ^ 1 << 63, low: low) }

    var coefficient: UInt128 { UInt128(coefficientHigh) << 64 | UInt128(coefficientLow) }

    /// The coefficient, if these bits are the canonical encoding of the number.
    package var canonicalCoefficient: UInt128? {
        exponent <= 6111 && coefficient <= DecimalText.largestCoefficient ? coefficient : nil
    }

    fileprivate var magnitudeBits: UInt128 {
        UInt128(high & ~(1 << 63)) << 64 | UInt128(low)
    }

    fileprivate var bigEndianBytes: [UInt8] {
        [high, low].flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }
}
