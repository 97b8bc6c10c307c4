import Changesets
import Documents
import JSON

/// Writes Extended JSON, version 2, on one line.
package struct ExtendedJSONText {
    package enum Mode: Sendable {
        /// Every value names its type.
        case canonical
        /// Numbers and dates of everyday size as JSON has them.
        case relaxed
    }

    package private(set) var bytes: [UInt8] = []
    private let mode: Mode

    package init(_ mode: Mode = .canonical) {
        self.mode = mode
    }

    package mutating func write(_ document: BSONDocument) {
        write("{")
        for (position, field) in document.fields.enumerated() {
            if position > 0 { write(",") }
            JSONString.append(field.name.bytes, to: &bytes)
            write(":")
            write(field.value)
        }
        write("}")
    }

    package mutating func write(_ value: BSONValue) {
        switch value {
        case .double(let value): write(double: value.value)
        case .string(let text): JSONString.append(text.bytes, to: &bytes)
        case .document(let document): write(document)
        case .array(let values):
            write("[")
            for (position, value) in values.enumerated() {
                if position > 0 { write(",") }
                write(value)
            }
            write("]")
        case .binary(let subtype, let content):
            let code = String(subtype, radix: 16)
            write("{\"$binary\":{\"base64\":\"")
            bytes += Base64.encode(content)
            write("\",\"subType\":\"\(code.count == 1 ? "0" : "")\(code)\"}}")
        case .undefined: write("{\"$undefined\":true}")
        case .objectID(let id): write("{\"$oid\":\"\(id)\"}")
        case .bool(let value): write(value ? "true" : "false")
        case .date(let milliseconds): write(date: milliseconds)
        case .null: write("null")
        case .regularExpression(let pattern, let options):
            write("{\"$regularExpression\":{\"pattern\":")
            JSONString.append(pattern.bytes, to: &bytes)
            write(",\"options\":")
            JSONString.append(options.bytes, to: &bytes)
            write("}}")
        case .pointer(let collection, let id):
            write("{\"$dbPointer\":{\"$ref\":")
            JSONString.append(collection.bytes, to: &bytes)
            write(",\"$id\":{\"$oid\":\"\(id)\"}}}")
        case .code(let text): write("$code", text)
        case .symbol(let text): write("$symbol", text)
        case .codeWithScope(let code, let scope):
            write("{\"$code\":")
            JSONString.append(code.bytes, to: &bytes)
            write(",\"$scope\":")
            write(scope)
            write("}")
        case .int32(let value):
            write(mode == .relaxed ? "\(value)" : "{\"$numberInt\":\"\(value)\"}")
        case .timestamp(let value):
            let (seconds, counter) = (value >> 32, value & 0xffff_ffff)
            write("{\"$timestamp\":{\"t\":\(seconds),\"i\":\(counter)}}")
        case .int64(let value):
            write(mode == .relaxed ? "\(value)" : "{\"$numberLong\":\"\(value)\"}")
        case .decimal(let value): write("{\"$numberDecimal\":\"\(value.extendedJSONText)\"}")
        case .minKey: write("{\"$minKey\":1}")
        case .maxKey: write("{\"$maxKey\":1}")
        }
    }

    private mutating func write(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func write(_ tag: String, _ text: Text) {
        write("{\"\(tag)\":")
        JSONString.append(text.bytes, to: &bytes)
        write("}")
    }

    private mutating func write(double value: Double) {
        if mode == .relaxed, value.isFinite { return write(value.description) }
        let text =
            value.isNaN
            ? "NaN"
            : value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : value.description
        write("{\"$numberDouble\":\"\(text)\"}")
    }

    private mutating func write(date milliseconds: Int64) {
        guard mode == .relaxed, (0...253_402_300_799_999).contains(milliseconds),
            let timestamp = Timestamp(
                seconds: milliseconds / 1000,
                nanoseconds: milliseconds % 1000 * 1_000_000
            ),
            case .text(let text) = ColumnForm.encode(.timestamp(timestamp))
        else { return write("{\"$date\":{\"$numberLong\":\"\(milliseconds)\"}}") }
        // Nine digits of the second become three, or go with their point.
        let seconds = String(decoding: text.prefix(19), as: UTF8.self)
        let fraction = String(decoding: text.dropFirst(20).prefix(3), as: UTF8.self)
        write("{\"$date\":\"\(seconds)\(fraction == "000" ? "" : ".\(fraction)")Z\"}")
    }
}
