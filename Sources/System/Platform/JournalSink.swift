import CSystemd

/// Writes records to journald in its native form, each field as its own journal field.
///
/// The journal reports nothing back: success of the call proves nothing.
package struct JournalSink: LogSink {
    private let identifier: String

    package init(identifier: String) {
        self.identifier = identifier
    }

    package func write(_ record: LogRecord) {
        var fields = [
            "MESSAGE=\(text(of: record))",
            "PRIORITY=\(record.level.priority)",
            "SYSLOG_IDENTIFIER=\(identifier)",
            "CATEGORY=\(record.category)",
            "LEVEL=\(record.level.word)",
        ]
        if let id = MessageCatalogue.ids[record.message] { fields.append("MESSAGE_ID=\(id)") }
        for field in record.fields {
            fields.append("\(Self.fieldName(field.name))=\(field.value)")
        }
        send(fields.map { Array($0.utf8) })
    }

    /// The message with its fields, since `journalctl` shows only this text by default.
    private func text(of record: LogRecord) -> String {
        record.fields.reduce(record.message) { text, field in
            "\(text) \(field.name)=\(StandardErrorSink.quoted(field.value))"
        }
    }

    /// Fields of every record, which a message's own fields must not repeat.
    private static let reserved: Set = [
        "MESSAGE", "MESSAGE_ID", "PRIORITY", "SYSLOG_IDENTIFIER", "CATEGORY", "LEVEL",
    ]

    /// Upper case, digits and underscores, not starting with an underscore, as journald requires.
    static func fieldName(_ name: String) -> String {
        let characters = name.uppercased().unicodeScalars.map { character in
            ("A"..."Z").contains(character) || ("0"..."9").contains(character) ? character : "_"
        }
        var text = String(String.UnicodeScalarView(characters))
        if text.first.map({ $0 == "_" || $0.isNumber }) ?? true { text = "F\(text)" }
        if reserved.contains(text) { text = "F_\(text)" }
        return String(text.prefix(64))
    }

    private func send(_ fields: [[UInt8]]) {
        let sizes = fields.map(\.count)
        var buffer = fields.flatMap { $0 }
        buffer.withUnsafeMutableBytes { memory in
            guard var position = memory.baseAddress else { return }
            let vectors = sizes.map { size in
                defer { position += size }
                return iovec(iov_base: position, iov_len: size)
            }
            _ = sd_journal_sendv(vectors, Int32(vectors.count))
        }
    }
}
