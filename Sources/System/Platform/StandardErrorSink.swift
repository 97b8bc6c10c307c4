import Glibc
package import Scheduling

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

    /// Quotes values that have blanks or quotes, so that a line can be parsed again.
    static func quoted(_ value: String) -> String {
        let isPlain =
            !value.isEmpty
            && value.unicodeScalars.allSatisfy {
                $0.value > 0x20 && $0 != "\"" && $0 != "\\" && !(0x7f...0x9f ~= $0.value)
            }
        guard !isPlain else { return value }
        var text = "\""
        for character in value.unicodeScalars {
            switch character {
            case "\"", "\\": text += "\\\(character)"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // Removes control characters of a terminal from messages of outside origin.
            case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}":
                text += "\\u{\(String(character.value, radix: 16))}"
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
                guard errno == EINTR || errno == EAGAIN && waitUntilWritable() else { return }
                continue
            }
            rest = rest.dropFirst(written)
        }
    }

    /// A pipe that is not read costs a second and the line, for each line; but not a whole
    /// processor.
    private static func waitUntilWritable() -> Bool {
        var descriptor = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        return poll(&descriptor, 1, 1000) > 0
    }
}
