/// Writes heads, headers and bodies; the mirror of `FieldReader`.
struct HeadWriter {
    private(set) var bytes: [UInt8] = []

    init(reserving count: Int = 64) {
        bytes.reserveCapacity(count)
    }

    init(_ name: String, reserving count: Int = 64) {
        self.init(reserving: count)
        bytes.append(contentsOf: name.utf8)
    }

    /// A field of a head, with the space before it.
    mutating func writeField(_ value: UInt64) {
        bytes.append(FieldReader.End.space.rawValue)
        writeDecimal(value)
    }

    mutating func writeField(_ value: Int) {
        writeField(String(value))
    }

    mutating func writeField(_ value: String) {
        bytes.append(FieldReader.End.space.rawValue)
        bytes.append(contentsOf: value.utf8)
    }

    mutating func writeField(_ flag: Bool) {
        writeField(UInt64(flag ? 1 : 0))
    }

    mutating func writeField(_ session: SessionIdent?) {
        writeField(session?.rawValue ?? 0)
    }

    /// A field of a changeset's header, with the space after it.
    mutating func writeEntryField(_ value: UInt64) {
        writeDecimal(value)
        bytes.append(FieldReader.End.space.rawValue)
    }

    mutating func endHead() {
        bytes.append(FieldReader.End.newline.rawValue)
    }

    mutating func write(_ body: [UInt8]) {
        bytes.append(contentsOf: body)
    }

    private mutating func writeDecimal(_ value: UInt64) {
        let start = bytes.count
        var rest = value
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest != 0
        bytes[start...].reverse()
    }
}
