import JSON

/// Writes canonical JSON: no white space, and no unnecessary escapes (local realm, 2).
struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ text: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        )
    }

    mutating func write(_ number: Int64) {
        bytes.append(contentsOf: String(number).utf8)
    }

    /// A text that is already JSON.
    mutating func write(raw text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    mutating func write(raw text: [UInt8]) {
        bytes.append(contentsOf: text)
    }

    /// A string that needs no escapes.
    mutating func write(plain text: [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func write(plain text: String) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text.utf8)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A string, which must be UTF-8.
    mutating func write(string text: [UInt8]) {
        JSONString.append(text, to: &bytes)
    }
}
