import Documents

/// Dates of relaxed Extended JSON: `2021-03-04T05:06:07.089Z`, also with an offset.
enum DateText {
    /// Milliseconds since 1970; digits of the second beyond three are dropped. Nil for another text.
    static func milliseconds(_ text: [UInt8]) -> Int64? {
        var scanner = Scanner(bytes: text)
        guard let year = scanner.number(4), scanner.skip("-"),
            let month = scanner.number(2), scanner.skip("-"),
            let day = scanner.number(2), scanner.skip("T"),
            let hour = scanner.number(2), scanner.skip(":"),
            let minute = scanner.number(2), scanner.skip(":"),
            let second = scanner.number(2),
            (1...12).contains(month), day >= 1, hour < 24, minute < 60, second < 61
        else { return nil }
        var fraction: Int64 = 0
        if scanner.skip(".") {
            let digits = scanner.digits()
            guard !digits.isEmpty else { return nil }
            for position in 0..<3 {
                fraction = 10 * fraction + (position < digits.count ? Int64(digits[position]) : 0)
            }
        }
        guard let offset = scanner.offsetInMinutes(), scanner.isAtEnd else { return nil }
        guard day <= length(ofMonth: month, year) else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        let minutes = days * 1440 + hour * 60 + minute - offset
        return (minutes * 60 + second) * 1000 + fraction
    }

    private static func length(ofMonth month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        var isAtEnd: Bool { position == bytes.count }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard position < bytes.count, bytes[position] == UInt8(ascii: character) else {
                return false
            }
            position += 1
            return true
        }

        mutating func digits() -> [UInt8] {
            var digits: [UInt8] = []
            while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
                digits.append(bytes[position] - 0x30)
                position += 1
            }
            return digits
        }

        mutating func number(_ count: Int) -> Int64? {
            guard bytes.count - position >= count else { return nil }
            var number: Int64 = 0
            for byte in bytes[position..<position + count] {
                guard (0x30...0x39).contains(byte) else { return nil }
                number = 10 * number + Int64(byte - 0x30)
            }
            position += count
            return number
        }

        /// `Z`, `+02:00` or `+0200`.
        mutating func offsetInMinutes() -> Int64? {
            if skip("Z") { return 0 }
            let isNegative = skip("-")
            guard isNegative || skip("+"), let hours = number(2) else { return nil }
            _ = skip(":")
            guard let minutes = number(2), hours < 24, minutes < 60 else { return nil }
            return (isNegative ? -1 : 1) * (hours * 60 + minutes)
        }
    }
}
