import Changesets

/// Bytes of a text that grows, in memory that is kept for the next text.
///
/// Each append reserves the most that its value can take, once, and then writes without checks; an array
/// checks its capacity and its owners for each byte.
struct TextBuffer: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 4096) {
        self.capacity = capacity
        self.start = .allocate(capacity: capacity)
    }

    deinit {
        start.deallocate()
    }

    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    /// Lends the text in place.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    mutating func removeAll() {
        count = 0
    }

    /// The place of the next byte, with room for so many.
    @inline(__always)
    private mutating func room(for size: Int) -> UnsafeMutablePointer<UInt8> {
        if size > capacity - count { grow(for: size) }
        return start + count
    }

    private mutating func grow(for size: Int) {
        capacity = max(2 * capacity, count + size)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: start, count: count)
        start.deallocate()
        start = larger
    }

    mutating func append(_ byte: UInt8) {
        room(for: 1).pointee = byte
        count += 1
    }

    mutating func append(_ bytes: [UInt8]) {
        let place = room(for: bytes.count)
        bytes.withUnsafeBufferPointer { source in
            if let first = source.baseAddress { place.update(from: first, count: source.count) }
        }
        count += bytes.count
    }

    mutating func append(_ text: StaticString) {
        room(for: text.utf8CodeUnitCount).update(
            from: text.utf8Start,
            count: text.utf8CodeUnitCount
        )
        count += text.utf8CodeUnitCount
    }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { source in
            let place = room(for: source.count)
            if let first = source.baseAddress { place.update(from: first, count: source.count) }
            count += source.count
        }
    }

    // MARK: Values

    mutating func append(number: Int64) {
        // Nineteen digits and a sign.
        let place = room(for: 20)
        var rest = number.magnitude
        var length = 1
        var limit: UInt64 = 10
        while length < 19, rest >= limit {
            length += 1
            limit *= 10
        }
        if number < 0 {
            place.pointee = UInt8(ascii: "-")
            length += 1
        }
        var position = length
        repeat {
            position -= 1
            place[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        count += length
    }

    /// A string in quotes. False, and unchanged, if it needs escapes, or is not portable UTF-8.
    mutating func append(quoted text: [UInt8]) -> Bool {
        text.withUnsafeBufferPointer { append(quoted: $0) }
    }

    mutating func append(quoted text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.isPlain else { return false }
        let place = room(for: text.count + 2)
        place[0] = UInt8(ascii: "\"")
        if let first = text.baseAddress { (place + 1).update(from: first, count: text.count) }
        place[text.count + 1] = UInt8(ascii: "\"")
        count += text.count + 2
        return true
    }

    /// As Base64, in quotes.
    mutating func append(base64 bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { append(base64: $0) }
    }

    mutating func append(base64 bytes: UnsafeBufferPointer<UInt8>) {
        let place = room(for: (bytes.count + 2) / 3 * 4 + 2)
        place[0] = UInt8(ascii: "\"")
        let length = Base64.write(bytes, to: place + 1)
        place[length + 1] = UInt8(ascii: "\"")
        count += length + 2
    }

    /// In quotes. False, and unchanged, outside the years 0000 to 9999.
    mutating func append(_ timestamp: Timestamp) -> Bool {
        let place = room(for: TimestampText.writtenSizeInBytes + 2)
        guard TimestampText.write(timestamp, to: place + 1) else { return false }
        place[0] = UInt8(ascii: "\"")
        place[TimestampText.writtenSizeInBytes + 1] = UInt8(ascii: "\"")
        count += TimestampText.writtenSizeInBytes + 2
        return true
    }
}

// MARK: Values of every form

extension TextBuffer {
    /// A string of any bytes.
    mutating func append(string text: UnsafeBufferPointer<UInt8>) {
        if !append(quoted: text) { append(general: .string(Text(bytes: Array(text)))) }
    }

    mutating func append(_ key: ObjectKey) {
        switch key {
        case .int(let number): append(number: number)
        case .string(let string) where append(quoted: string.bytes): break
        default:
            var writer = JSONWriter()
            writer.write(key)
            append(writer.bytes)
        }
    }

    mutating func append(_ value: DoubleBits) {
        guard FloatText.special(value) == nil else { return append(general: .double(value)) }
        append(FloatText.print(value))
    }

    mutating func append(_ value: FloatBits) {
        guard FloatText.special(value) == nil else { return append(general: .float(value)) }
        append(FloatText.print(value))
    }

    /// A value that is rare or needs escapes, as `JSONWriter` writes it.
    mutating func append(general scalar: Scalar) {
        var writer = JSONWriter()
        writer.write(typed: scalar)
        append(writer.bytes)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes are UTF-8 that a JSON string holds without escapes.
    fileprivate var isPlain: Bool {
        var all: UInt8 = 0
        var needsEscape = false
        for byte in self {
            all |= byte
            needsEscape =
                needsEscape || byte < 0x20 || byte == UInt8(ascii: "\"")
                || byte == UInt8(ascii: "\\")
        }
        return !needsEscape && (all < 0x80 || UTF8Validation.isValid(Array(self)))
    }
}
