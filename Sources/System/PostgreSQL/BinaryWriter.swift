/// Writes values in PostgreSQL's binary form: big-endian numbers, elements behind their lengths.
struct BinaryWriter {
    private(set) var bytes: [UInt8] = []

    /// The server takes no message of a GiB or more.
    static let limit = (1 << 30) - 1

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    mutating func reserve(_ count: Int) {
        bytes.reserveCapacity(bytes.count + count)
    }

    mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(raw content: [UInt8]) {
        bytes.append(contentsOf: content)
    }

    /// The value without its length; false for NULL, which has no bytes.
    mutating func append(_ value: Value) -> Bool {
        switch value {
        case .integer(nil), .bool(nil), .real(nil), .text(nil), .bytes(nil), .document(nil):
            return false
        case .integer(let number?): append(number)
        case .bool(let flag?): append(UInt8(flag ? 1 : 0))
        case .real(let number?): append(number.bitPattern)
        case .text(let content?), .bytes(let content?): append(raw: content)
        case .document(let content?): append(document: content)
        case .integers(let elements):
            append(elements, of: .integer) { writer, number in writer.append(number) }
        case .texts(let elements):
            append(elements, of: .text) { writer, content in writer.append(raw: content) }
        case .byteStrings(let elements):
            append(elements, of: .bytes) { writer, content in writer.append(raw: content) }
        case .documents(let elements):
            append(elements, of: .document) { writer, content in writer.append(document: content) }
        }
        return true
    }

    /// The value behind its length in four bytes, -1 for NULL.
    mutating func appendField(_ value: Value) throws(PostgreSQLError) {
        let start = bytes.count
        append(Int32(-1))
        guard append(value) else { return }
        try setLength(at: start)
    }

    private mutating func append(document: [UInt8]) {
        // The version of jsonb's binary form.
        bytes.append(1)
        append(raw: document)
    }

    private mutating func append<Element>(
        _ elements: [Element?],
        of type: TypeID,
        _ body: (inout BinaryWriter, Element) -> Void
    ) {
        append(Int32(elements.isEmpty ? 0 : 1))
        append(Int32(elements.contains { $0 == nil } ? 1 : 0))
        append(type.rawValue)
        guard !elements.isEmpty else { return }
        append(Int32(clamping: elements.count))
        append(Int32(1))
        for element in elements {
            let start = bytes.count
            append(Int32(-1))
            guard let element else { continue }
            body(&self, element)
            overwriteLength(at: start)
        }
    }

    private mutating func setLength(at start: Int) throws(PostgreSQLError) {
        guard bytes.count - start - 4 <= Self.limit else { throw .tooLarge }
        overwriteLength(at: start)
    }

    /// An element above the limit makes its array larger than the limit, which is checked.
    private mutating func overwriteLength(at start: Int) {
        let length = UInt32(clamping: bytes.count - start - 4)
        for place in 0..<4 {
            bytes[start + place] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(place)))
        }
    }
}

extension PostgreSQLError {
    static let tooLarge = PostgreSQLError(.tooLarge, "a value has a GiB or more")
}
