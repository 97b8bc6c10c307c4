/// Reads the files of `/usr/share/zoneinfo` (RFC 8536, "TZif").
package enum TimeZoneFile {
    /// The rules in a file; nil if its bytes are not a valid one.
    package static func parse(_ bytes: [UInt8], name: String) -> TimeZoneRules? {
        var reader = Reader(bytes: bytes)
        guard let first = Header(&reader) else { return nil }
        guard first.version >= 2 else {
            return reader.rules(first, timeSize: 4, name: name, hasFooter: false)
        }
        // The first block is for readers that only support 32-bit times.
        guard reader.skip(first.sizeInBytes(timeSize: 4)), let second = Header(&reader) else {
            return nil
        }
        return reader.rules(second, timeSize: 8, name: name, hasFooter: true)
    }

    private struct Header {
        let version: Int
        let utcIndicators: Int
        let standardIndicators: Int
        let leapSeconds: Int
        let transitions: Int
        let types: Int
        let abbreviationBytes: Int

        init?(_ reader: inout Reader) {
            guard reader.take(4) == Array("TZif".utf8)[...], let version = reader.take(1)?.first,
                reader.skip(15), let utc = reader.count(), let standard = reader.count(),
                let leap = reader.count(), let transitions = reader.count(),
                let types = reader.count(), let abbreviations = reader.count(), types > 0
            else { return nil }
            self.version = version == 0 ? 1 : Int(version) - Int(UInt8(ascii: "0"))
            self.utcIndicators = utc
            self.standardIndicators = standard
            self.leapSeconds = leap
            self.transitions = transitions
            self.types = types
            self.abbreviationBytes = abbreviations
        }

        func sizeInBytes(timeSize: Int) -> Int {
            transitions * (timeSize + 1) + types * 6 + abbreviationBytes
                + leapSeconds * (timeSize + 4) + standardIndicators + utcIndicators
        }
    }

    private struct Reader {
        let bytes: [UInt8]
        var offset = 0

        mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
            guard count <= bytes.count - offset else { return nil }
            defer { offset += count }
            return bytes[offset..<offset + count]
        }

        mutating func skip(_ count: Int) -> Bool { take(count) != nil }

        /// A count; in real files it is far below this limit.
        mutating func count() -> Int? {
            integer(size: 4).flatMap { (0...100_000).contains($0) ? Int($0) : nil }
        }

        mutating func integer(size: Int) -> Int64? {
            guard let bytes = take(size), let first = bytes.first else { return nil }
            let sign: Int64 = first & 0x80 == 0 ? 0 : -1
            return bytes.reduce(sign) { $0 << 8 | Int64($1) }
        }

        mutating func rules(
            _ header: Header,
            timeSize: Int,
            name: String,
            hasFooter: Bool
        ) -> TimeZoneRules? {
            var times: [Int64] = []
            for _ in 0..<header.transitions {
                guard let time = integer(size: timeSize) else { return nil }
                times.append(time)
            }
            guard let kinds = take(header.transitions) else { return nil }
            var offsets: [Int] = []
            for _ in 0..<header.types {
                guard let offset = integer(size: 4), (-93_600...93_600).contains(offset), skip(2)
                else { return nil }
                offsets.append(Int(offset))
            }
            guard times == times.sorted(), kinds.allSatisfy({ Int($0) < offsets.count }) else {
                return nil
            }
            let rest =
                header.abbreviationBytes + header.leapSeconds * (timeSize + 4)
                + header.standardIndicators + header.utcIndicators
            guard skip(rest) else { return nil }
            return TimeZoneRules(
                name: name,
                initialOffset: offsets[0],
                transitions: zip(times, kinds).map {
                    TimeZoneRules.Transition(at: $0, offset: offsets[Int($1)])
                },
                rule: hasFooter ? footer() : nil
            )
        }

        /// The rule for the time after the last transition, between two line ends.
        private mutating func footer() -> DaylightRule? {
            guard take(1)?.first == UInt8(ascii: "\n") else { return nil }
            let line = bytes[offset...].prefix { $0 != UInt8(ascii: "\n") }
            return DaylightRule(posix: line)
        }
    }
}
