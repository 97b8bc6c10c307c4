import Changesets

/// The text form of timestamps in columns and JSON (local realm, 2, "Timestamp").
enum TimestampText {
    /// `YYYY-MM-DDTHH:MM:SS.nnnnnnnnnZ`, so that text order is time order; outside the years 0000
    /// to 9999 `@<seconds>.<nanoseconds>`, each with its own sign.
    static func print(_ timestamp: Timestamp) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: capacity) { text, count in
            count = write(timestamp, into: UnsafeMutableRawBufferPointer(text))
        }
    }

    /// Room for both forms; the longest text is that of extreme numbers.
    static let capacity = 40

    /// Writes the same text to the start of a buffer with that capacity, and returns its length.
    static func write(_ timestamp: Timestamp, into text: UnsafeMutableRawBufferPointer) -> Int {
        if let start = text.baseAddress,
            write(timestamp, to: start.assumingMemoryBound(to: UInt8.self))
        {
            return writtenSizeInBytes
        }
        let numbers = "@\(timestamp.seconds).\(timestamp.nanoseconds)".utf8
        text.copyBytes(from: numbers)
        return numbers.count
    }

    /// Of the first form.
    static let writtenSizeInBytes = 30

    /// Writes the first form; false if the timestamp needs the other one.
    static func write(_ timestamp: Timestamp, to text: UnsafeMutablePointer<UInt8>) -> Bool {
        guard hasDate(timestamp) else { return false }
        let isBackwards = timestamp.nanoseconds < 0
        let seconds = timestamp.seconds - (isBackwards ? 1 : 0)
        let nanoseconds = Int64(timestamp.nanoseconds) + (isBackwards ? billion : 0)
        let days = seconds.flooredQuotient(secondsPerDay)
        let secondOfDay = seconds - days * secondsPerDay
        let date = CivilDate(daysSince1970: days)
        text.write(date.year, digits: 4)
        text[4] = UInt8(ascii: "-")
        (text + 5).write(date.month, digits: 2)
        text[7] = UInt8(ascii: "-")
        (text + 8).write(date.day, digits: 2)
        text[10] = UInt8(ascii: "T")
        (text + 11).write(secondOfDay / 3600, digits: 2)
        text[13] = UInt8(ascii: ":")
        (text + 14).write(secondOfDay / 60 % 60, digits: 2)
        text[16] = UInt8(ascii: ":")
        (text + 17).write(secondOfDay % 60, digits: 2)
        text[19] = UInt8(ascii: ".")
        (text + 20).write(nanoseconds, digits: 9)
        text[29] = UInt8(ascii: "Z")
        return true
    }

    private static func hasDate(_ timestamp: Timestamp) -> Bool {
        // Within the bounds there is room to step back one second.
        writtenSeconds.contains(timestamp.seconds)
            && (timestamp.seconds > writtenSeconds.lowerBound || timestamp.nanoseconds >= 0)
    }

    /// Reads both forms, and any text that SQLite's `julianday()` accepts and that starts with a
    /// full date; nil for all other texts.
    static func parse(_ text: ArraySlice<UInt8>) -> Timestamp? {
        var scanner = ByteScanner(text)
        let timestamp =
            scanner.skip(UInt8(ascii: "@"))
            ? parseWireNumbers(&scanner)
            : parseDate(&scanner)
        return scanner.isAtEnd ? timestamp : nil
    }

    /// Reads a text as `print` writes it: nil for every other one, even a valid one.
    static func parseWritten(_ text: UnsafeBufferPointer<UInt8>) -> Timestamp? {
        guard text.count == writtenSizeInBytes, text[4] == UInt8(ascii: "-"),
            text[7] == UInt8(ascii: "-"), text[10] == UInt8(ascii: "T"),
            text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
            text[19] == UInt8(ascii: "."), text[29] == UInt8(ascii: "Z"),
            let year = text.number(0..<4), let month = text.number(5..<7), 1...12 ~= month,
            let day = text.number(8..<10), 1...31 ~= day,
            let hour = text.number(11..<13), hour <= 24,
            let minute = text.number(14..<16), minute <= 59,
            let second = text.number(17..<19), second <= 59,
            let nanoseconds = text.number(20..<29)
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        return timestamp(
            seconds: days * secondsPerDay + hour * 3600 + minute * 60 + second,
            nanosecondsAfter: nanoseconds
        )
    }

    private static let billion: Int64 = 1_000_000_000
    private static let secondsPerDay: Int64 = 86_400
    /// From 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
    private static let writtenSeconds: ClosedRange<Int64> = -62_167_219_200...253_402_300_799
}

// MARK: Reading

extension TimestampText {
    private static func parseWireNumbers(_ scanner: inout ByteScanner) -> Timestamp? {
        guard let seconds = parseSigned(&scanner), scanner.skip(UInt8(ascii: ".")),
            let nanoseconds = parseSigned(&scanner)
        else { return nil }
        return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    }

    private static func parseSigned(_ scanner: inout ByteScanner) -> Int64? {
        let isNegative = scanner.skip(UInt8(ascii: "-"))
        guard var value = scanner.digit().map(Int64.init) else { return nil }
        if isNegative { value.negate() }
        while let digit = scanner.digit() {
            let (tens, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, carried) =
                isNegative
                ? tens.subtractingReportingOverflow(Int64(digit))
                : tens.addingReportingOverflow(Int64(digit))
            guard !overflowed, !carried else { return nil }
            value = sum
        }
        return value
    }

    private static func parseDate(_ scanner: inout ByteScanner) -> Timestamp? {
        guard let year = scanner.number(digits: 4), scanner.skip(UInt8(ascii: "-")),
            let month = scanner.number(digits: 2), 1...12 ~= month, scanner.skip(UInt8(ascii: "-")),
            let day = scanner.number(digits: 2), 1...31 ~= day
        else { return nil }
        scanner.skipAll { $0.isASCIISpace || $0 == UInt8(ascii: "T") }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        if scanner.isAtEnd {
            return Timestamp(seconds: days * secondsPerDay, nanoseconds: 0)
        }
        guard let time = parseTime(&scanner), let offset = parseOffset(&scanner) else { return nil }
        return timestamp(
            seconds: days * secondsPerDay + time.seconds - offset,
            nanosecondsAfter: time.nanoseconds
        )
    }

    /// `HH:MM`, `HH:MM:SS` or `HH:MM:SS.f…`; digits of the fraction after the ninth are dropped.
    private static func parseTime(
        _ scanner: inout ByteScanner
    ) -> (seconds: Int64, nanoseconds: Int64)? {
        guard let hour = scanner.number(digits: 2), hour <= 24, scanner.skip(UInt8(ascii: ":")),
            let minute = scanner.number(digits: 2), minute <= 59
        else { return nil }
        let seconds = hour * 3600 + minute * 60
        guard scanner.skip(UInt8(ascii: ":")) else { return (seconds, 0) }
        guard let second = scanner.number(digits: 2), second <= 59 else { return nil }
        guard scanner.skip(UInt8(ascii: ".")) else { return (seconds + second, 0) }

        guard let first = scanner.digit() else { return nil }
        var nanoseconds = Int64(first) * 100_000_000
        var unit: Int64 = 10_000_000
        while let digit = scanner.digit() {
            nanoseconds += Int64(digit) * unit
            unit /= 10
        }
        return (seconds + second, nanoseconds)
    }

    /// Seconds east of Greenwich: nothing, `Z`, or `±HH:MM` up to 14 hours.
    private static func parseOffset(_ scanner: inout ByteScanner) -> Int64? {
        scanner.skipAll(where: \.isASCIISpace)
        var offset: Int64 = 0
        let isEast = scanner.skip(UInt8(ascii: "+"))
        if isEast || scanner.skip(UInt8(ascii: "-")) {
            guard let hour = scanner.number(digits: 2), hour <= 14,
                scanner.skip(UInt8(ascii: ":")),
                let minute = scanner.number(digits: 2), minute <= 59
            else { return nil }
            offset = (hour * 3600 + minute * 60) * (isEast ? 1 : -1)
        } else if !scanner.skip(UInt8(ascii: "Z")) {
            _ = scanner.skip(UInt8(ascii: "z"))
        }
        scanner.skipAll(where: \.isASCIISpace)
        return offset
    }

    /// Gives both parts the same sign, as on the wire (changesets spec, 2.5).
    private static func timestamp(seconds: Int64, nanosecondsAfter: Int64) -> Timestamp? {
        seconds < 0 && nanosecondsAfter > 0
            ? Timestamp(seconds: seconds + 1, nanoseconds: nanosecondsAfter - billion)
            : Timestamp(seconds: seconds, nanoseconds: nanosecondsAfter)
    }
}

extension UnsafeMutablePointer<UInt8> {
    /// The lowest decimal digits of a number that is not negative.
    @inline(__always)
    fileprivate func write(_ value: Int64, digits count: Int) {
        var rest = UInt64(bitPattern: value)
        for position in stride(from: count - 1, through: 0, by: -1) {
            self[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The digits in a range, as a number.
    @inline(__always)
    fileprivate func number(_ range: Range<Int>) -> Int64? {
        var value: Int64 = 0
        for position in range {
            guard self[position].isASCIIDigit else { return nil }
            value = value * 10 + Int64(self[position] - UInt8(ascii: "0"))
        }
        return value
    }
}
