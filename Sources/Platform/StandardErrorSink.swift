import Glibc

/// Writes one line per record to standard error, readable for people and for `journald`'s stream
/// form alike.
package struct StandardErrorSink: LogSink {
    private let clock: @Sendable () -> WallTime

    package init(clock: @escaping @Sendable () -> WallTime) {
        self.clock = clock
    }

    package func write(_ record: LogRecord) {
        var line =
            "\(clock().description) \(record.level.word) \(record.category): \(record.message)"
        for field in record.fields {
            line += " \(field.name)=\(Self.quoted(field.value))"
        }
        line += "\n"
        Self.writeWhole(Array(line.utf8))
    }

    /// Values with blanks or quotes stand in quotes, so that a line can be taken apart again.
    static func quoted(_ value: String) -> String {
        let isPlain =
            !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x5c }
        guard !isPlain else { return value }
        var text = "\""
        for character in value.unicodeScalars {
            switch character {
            case "\"", "\\": text += "\\\(character)"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default: text.unicodeScalars.append(character)
            }
        }
        return text + "\""
    }

    /// One write for one line, so that lines of several threads do not mix.
    private static func writeWhole(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes {
                Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
            }
            if written < 0 {
                guard errno == EINTR || errno == EAGAIN else { return }
                continue
            }
            rest = rest.dropFirst(written)
        }
    }
}
