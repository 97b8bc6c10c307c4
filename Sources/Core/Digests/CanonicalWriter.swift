import Changesets
import Documents

/// Writes the canonical bytes of keys and values: equal bytes exactly for equal representations
/// (local realm, "Comparing with the server").
///
/// Numbers are big-endian. A text is its length in eight bytes, then its bytes. Each key and each value
/// begins with a byte for its kind.
struct CanonicalWriter {
    private(set) var bytes: [UInt8] = []

    private enum Kind: UInt8 {
        case null = 0
        case int = 1
        case bool = 2
        case string = 3
        case binary = 4
        case timestamp = 5
        case float = 6
        case double = 7
        case decimal = 8
        case link = 9
        case objectID = 10
        case uuid = 11
        case globalKey = 12
        case list = 20
        case set = 21
        case dictionary = 22
        case object = 23
    }

    mutating func write(_ key: ObjectKey) {
        switch key {
        case .null: begin(.null)
        case .int(let value):
            begin(.int)
            write(value)
        case .string(let text):
            begin(.string)
            write(text.bytes)
        case .objectID(let value):
            begin(.objectID)
            bytes += value.bytes
        case .uuid(let value):
            begin(.uuid)
            bytes += value.bytes
        case .globalKey(let value):
            begin(.globalKey)
            write(value.high)
            write(value.low)
        }
    }

    mutating func write(_ scalar: Scalar) {
        switch scalar {
        case .null: begin(.null)
        case .int(let value):
            begin(.int)
            write(value)
        case .bool(let value):
            begin(.bool)
            bytes.append(value ? 1 : 0)
        case .string(let text):
            begin(.string)
            write(text.bytes)
        case .binary(let value):
            begin(.binary)
            write(value)
        case .timestamp(let value):
            begin(.timestamp)
            write(value.seconds)
            write(value.nanoseconds)
        case .float(let value):
            begin(.float)
            write(value.bitPattern)
        case .double(let value):
            begin(.double)
            write(value.bitPattern)
        case .decimal(let value):
            begin(.decimal)
            write(value.high)
            write(value.low)
        case .link(let target):
            begin(.link)
            write(target.className.bytes)
            write(target.key)
        case .objectID(let value):
            begin(.objectID)
            bytes += value.bytes
        case .uuid(let value):
            begin(.uuid)
            bytes += value.bytes
        }
    }

    mutating func beginList(count: Int) {
        begin(.list)
        write(UInt64(count))
    }

    mutating func beginDictionary(count: Int) {
        begin(.dictionary)
        write(UInt64(count))
    }

    mutating func beginObject(propertyCount: Int) {
        begin(.object)
        write(UInt64(propertyCount))
    }

    /// The elements bytewise, independent of the order in which either end keeps them.
    mutating func write(_ set: ValueSet) {
        begin(.set)
        write(UInt64(set.count))
        let elements = set.elements.map { element in
            var writer = CanonicalWriter()
            writer.write(element)
            return writer.bytes
        }
        for element in elements.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            bytes += element
        }
    }

    mutating func write(_ text: [UInt8]) {
        write(UInt64(text.count))
        bytes += text
    }

    mutating func write(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func begin(_ kind: Kind) {
        bytes.append(kind.rawValue)
    }
}
