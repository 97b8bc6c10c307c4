package import Changesets
import JSON

/// A line of a spool: a JSON document behind the checksum that proves it whole.
enum SpoolLine {
    /// 16 hexadecimal digits and a blank.
    private static let prefixLength = 17
    static let newline = UInt8(ascii: "\n")

    /// - Parameter json: without a line break; JSON needs none.
    static func encode(_ json: [UInt8]) -> [UInt8] {
        prefix(of: json) + json + [newline]
    }

    private static func prefix(of json: some Sequence<UInt8>) -> [UInt8] {
        digits(of: checksum(json)) + [UInt8(ascii: " ")]
    }

    /// The documents of a segment, each with its line break.
    ///
    /// A process that is killed, or a power cut, can leave a torn line at the end. It was never
    /// acknowledged, so it is left out, with all that follows it.
    static func decode(_ bytes: [UInt8]) -> (lines: [UInt8], count: Int, tornBytes: Int) {
        var lines: [UInt8] = []
        var count = 0
        var start = 0
        while let end = bytes[start...].firstIndex(of: newline) {
            let line = bytes[start..<end]
            guard line.count >= prefixLength else { break }
            let json = line.dropFirst(prefixLength)
            guard Array(line.prefix(prefixLength)) == prefix(of: json) else { break }
            lines += json
            lines.append(newline)
            count += 1
            start = end + 1
        }
        return (lines, count, bytes.count - start)
    }

    /// FNV-1a of 64 bits: against torn writes, not against an attacker.
    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    private static func digits(of number: UInt64) -> [UInt8] {
        stride(from: UInt64(60), through: 0, by: -4).map { shift in
            let digit = UInt8(number >> shift & 15)
            return digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "a")
        }
    }
}

/// The JSON lines that a sink's program reads.
package enum SinkLine {
    /// One inserted object: its class, its user, and the document.
    ///
    /// - Parameter document: the object's JSON, as the store keeps it.
    package static func object(of className: Text, by user: String, _ document: [UInt8]) -> [UInt8]
    {
        var line = Array("{\"class\":".utf8)
        JSONString.append(className.bytes, to: &line)
        line += Array(",\"user\":".utf8)
        JSONString.append(Array(user.utf8), to: &line)
        line += Array(",\"document\":".utf8)
        // A blank in place of a line break between tokens; inside strings JSON has none.
        line += document.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }
        line.append(UInt8(ascii: "}"))
        return line
    }
}
