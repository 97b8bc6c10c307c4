import JSON

/// Bytes that are equal for equal rights to a class.
struct RightsSignature: Hashable, Sendable {
    private var bytes: [UInt8] = []

    mutating func append(_ text: String) {
        append(count: text.utf8.count)
        bytes += Array(text.utf8)
    }

    mutating func append(_ other: RightsSignature) {
        append(count: other.bytes.count)
        bytes += other.bytes
    }

    mutating func append(_ value: JSONValue) {
        switch value {
        case .null: bytes.append(0)
        case .bool(let value): bytes += [1, value ? 1 : 0]
        case .integer(let value):
            bytes.append(2)
            append(bits: UInt64(bitPattern: value))
        case .number(let value):
            bytes.append(3)
            append(bits: value.bitPattern)
        case .string(let text):
            bytes.append(4)
            append(text)
        case .array(let elements):
            bytes.append(5)
            append(count: elements.count)
            for element in elements { append(element) }
        case .object(let members):
            bytes.append(6)
            append(count: members.count)
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                append(name)
                append(value)
            }
        }
    }

    private mutating func append(count: Int) { append(bits: UInt64(count)) }

    private mutating func append(bits: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> shift))
        }
    }
}
