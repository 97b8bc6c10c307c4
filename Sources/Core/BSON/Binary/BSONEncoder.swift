import Changesets

extension BSONDocument {
    /// The bytes that `init(decoding:)` reads. Names must not contain zero bytes.
    package func encoded() -> [UInt8] {
        var encoder = BSONEncoder()
        encoder.write(self)
        return encoder.bytes
    }
}

/// Writes BSON; mirrors `BSONDecoder`.
struct BSONEncoder {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ document: BSONDocument) {
        writeElements(document.fields.lazy.map { ($0.name, $0.value) })
    }

    private mutating func writeElements(_ elements: some Sequence<(Text, BSONValue)>) {
        let start = bytes.count
        append(Int32(0))
        for (name, value) in elements {
            bytes.append(value.type.rawValue)
            appendCString(name)
            write(value)
        }
        bytes.append(0)
        let length = UInt32(truncatingIfNeeded: bytes.count - start)
        for position in 0..<4 {
            bytes[start + position] = UInt8(truncatingIfNeeded: length >> UInt32(8 * position))
        }
    }

    private mutating func write(_ value: BSONValue) {
        switch value {
        case .double(let value): append(value.bitPattern)
        case .string(let text), .code(let text), .symbol(let text): appendString(text)
        case .document(let document): write(document)
        case .array(let values):
            writeElements(values.enumerated().lazy.map { (Text("\($0.offset)"), $0.element) })
        case .binary(let subtype, let content):
            let isOld = subtype == BSONType.oldBinary
            append(Int32(truncatingIfNeeded: content.count + (isOld ? 4 : 0)))
            bytes.append(subtype)
            if isOld { append(Int32(truncatingIfNeeded: content.count)) }
            bytes += content
        case .undefined, .null, .minKey, .maxKey: break
        case .objectID(let id): bytes += id.bytes
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .date(let value), .int64(let value): append(UInt64(bitPattern: value))
        case .regularExpression(let pattern, let options):
            appendCString(pattern)
            appendCString(options)
        case .pointer(let collection, let id):
            appendString(collection)
            bytes += id.bytes
        case .codeWithScope(let code, let scope):
            var inner = BSONEncoder()
            inner.appendString(code)
            inner.write(scope)
            append(Int32(truncatingIfNeeded: inner.bytes.count + 4))
            bytes += inner.bytes
        case .int32(let value): append(value)
        case .timestamp(let value): append(value)
        case .decimal(let value):
            append(value.low)
            append(value.high)
        }
    }

    private mutating func appendString(_ text: Text) {
        append(Int32(truncatingIfNeeded: text.bytes.count + 1))
        bytes += text.bytes
        bytes.append(0)
    }

    private mutating func appendCString(_ text: Text) {
        bytes += text.bytes
        bytes.append(0)
    }

    private mutating func append(_ number: Int32) {
        for shift in stride(from: Int32(0), to: 32, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    private mutating func append(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

extension BSONValue {
    fileprivate var type: BSONType {
        switch self {
        case .double: .double
        case .string: .string
        case .document: .document
        case .array: .array
        case .binary: .binary
        case .undefined: .undefined
        case .objectID: .objectID
        case .bool: .bool
        case .date: .date
        case .null: .null
        case .regularExpression: .regularExpression
        case .pointer: .pointer
        case .code: .code
        case .symbol: .symbol
        case .codeWithScope: .codeWithScope
        case .int32: .int32
        case .timestamp: .timestamp
        case .int64: .int64
        case .decimal: .decimal
        case .minKey: .minKey
        case .maxKey: .maxKey
        }
    }
}
