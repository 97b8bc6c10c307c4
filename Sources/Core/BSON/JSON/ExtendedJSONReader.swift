import Changesets
import Documents
import Schemas

extension BSONDocument {
    /// Reads a document of Extended JSON, version 2, canonical or relaxed, and the dates, binaries and
    /// expressions of version 1.
    package init(extendedJSON tree: JSONTree) throws(ExtendedJSONError) {
        guard case .object(let members) = tree else {
            throw ExtendedJSONError(problem: .notAnObject)
        }
        self.init()
        fields.reserveCapacity(members.count)
        for member in members {
            append(member.name, try BSONValue(extendedJSON: member.value))
        }
    }
}

extension BSONValue {
    /// A number with a point or an exponent is a double, any other is a whole number.
    package init(extendedJSON tree: JSONTree) throws(ExtendedJSONError) {
        switch tree {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .string(let text): self = .string(text)
        case .number(let text): self = try ExtendedJSONTags.number(text)
        case .array(let elements):
            var values: [BSONValue] = []
            values.reserveCapacity(elements.count)
            for element in elements { values.append(try BSONValue(extendedJSON: element)) }
            self = .array(values)
        case .object(let members):
            if let tagged = try ExtendedJSONTags.value(members) {
                self = tagged
            } else {
                self = .document(try BSONDocument(extendedJSON: tree))
            }
        }
    }
}

/// Objects that are one value: each has a member whose name begins with `$`.
private enum ExtendedJSONTags {
    static func number(_ text: String) throws(ExtendedJSONError) -> BSONValue {
        if text.utf8.contains(where: { [0x2e, 0x65, 0x45].contains($0) }) {
            guard let value = Double(text), value.isFinite else {
                throw ExtendedJSONError(problem: .numberOutOfRange)
            }
            return .double(value)
        }
        if let value = Int32(text) { return .int32(value) }
        guard let value = Int64(text) else { throw ExtendedJSONError(problem: .numberOutOfRange) }
        return .int64(value)
    }

    /// Nil for an ordinary document.
    static func value(_ members: [JSONTree.Member]) throws(ExtendedJSONError) -> BSONValue? {
        guard let first = members.first, first.name.bytes.first == UInt8(ascii: "$"),
            let tag = first.name.string
        else { return nil }
        let result: BSONValue?
        switch (tag, members.count) {
        case ("$oid", 1): result = objectID(first.value).map { .objectID($0) }
        case ("$numberInt", 1): result = first.value.text.flatMap { Int32($0) }.map { .int32($0) }
        case ("$numberLong", 1): result = long(first.value).map { .int64($0) }
        case ("$numberDouble", 1): result = double(first.value)
        case ("$numberDecimal", 1): result = decimal(first.value)
        case ("$date", 1): result = date(first.value).map { .date($0) }
        case ("$uuid", 1):
            result = first.value.text.flatMap { UniqueID($0) }
                .map { .binary(subtype: 4, $0.bytes) }
        case ("$binary", 1): result = binary(first.value)
        case ("$binary", 2), ("$type", 2): result = oldBinary(members)
        case ("$timestamp", 1): result = timestamp(first.value)
        case ("$regularExpression", 1):
            result = expression(first.value["pattern"], first.value["options"])
        case ("$regex", 2):
            guard members[1].name == "$options" else { return nil }
            result = expression(first.value, members[1].value)
        case ("$symbol", 1): result = string(first.value).map { .symbol($0) }
        case ("$code", 1): result = string(first.value).map { .code($0) }
        case ("$code", 2) where members[1].name == "$scope":
            guard let code = string(first.value) else { throw bad(first) }
            result = .codeWithScope(code, try BSONDocument(extendedJSON: members[1].value))
        case ("$dbPointer", 1):
            guard let collection = first.value["$ref"].flatMap(string),
                case .objectID(let id)? = try first.value["$id"].map({
                    (tree) throws(ExtendedJSONError) in
                    try BSONValue(extendedJSON: tree)
                })
            else { throw bad(first) }
            result = .pointer(collection: collection, id)
        case ("$minKey", 1): result = first.value == .number("1") ? .minKey : nil
        case ("$maxKey", 1): result = first.value == .number("1") ? .maxKey : nil
        case ("$undefined", 1): result = first.value == .bool(true) ? .undefined : nil
        default: return nil
        }
        guard let result else { throw bad(first) }
        return result
    }

    private static func bad(_ member: JSONTree.Member) -> ExtendedJSONError {
        ExtendedJSONError(problem: .badTag(member.name))
    }

    // MARK: Values

    private static func string(_ tree: JSONTree) -> Text? {
        guard case .string(let text) = tree else { return nil }
        return text
    }

    private static func objectID(_ tree: JSONTree) -> ObjectID? {
        string(tree).flatMap { ObjectID(text: $0.bytes) }
    }

    private static func long(_ tree: JSONTree) -> Int64? {
        tree.text.flatMap { Int64($0) }
    }

    private static func double(_ tree: JSONTree) -> BSONValue? {
        switch tree.text {
        case "NaN": .double(.nan)
        case "Infinity": .double(.infinity)
        case "-Infinity": .double(-.infinity)
        case let text?:
            text.utf8.allSatisfy { "+-.eE0123456789".utf8.contains($0) }
                ? Double(text).flatMap { $0.isFinite ? .double($0) : nil } : nil
        case nil: nil
        }
    }

    private static func decimal(_ tree: JSONTree) -> BSONValue? {
        // "#" begins a form of columns, not of Extended JSON.
        guard let text = tree.text, !text.hasPrefix("#"),
            case .decimal(let value)? = try? ColumnForm.decode(.text(text), as: .decimal)
        else { return nil }
        return .decimal(value)
    }

    private static func date(_ tree: JSONTree) -> Int64? {
        switch tree {
        case .string(let text): DateText.milliseconds(text.bytes)
        case .number(let text): Int64(text)
        case .object(let members) where members.count == 1: tree["$numberLong"].flatMap(long)
        case .object, .array, .null, .bool: nil
        }
    }

    private static func binary(_ tree: JSONTree) -> BSONValue? {
        guard let base64 = tree["base64"].flatMap(string), let bytes = decode(base64),
            let subtype = tree["subType"]?.text.flatMap({ UInt8($0, radix: 16) })
        else { return nil }
        return .binary(subtype: subtype, bytes)
    }

    /// `{ "$binary": "…", "$type": "00" }`, in either order.
    private static func oldBinary(_ members: [JSONTree.Member]) -> BSONValue? {
        let tree = JSONTree.object(members)
        guard let base64 = tree["$binary"].flatMap(string), let bytes = decode(base64),
            let subtype = tree["$type"]?.text.flatMap({ UInt8($0, radix: 16) })
        else { return nil }
        return .binary(subtype: subtype, bytes)
    }

    private static func decode(_ base64: Text) -> [UInt8]? { Base64.decode(base64.bytes) }

    private static func timestamp(_ tree: JSONTree) -> BSONValue? {
        guard case .number(let seconds)? = tree["t"], case .number(let counter)? = tree["i"],
            let seconds = UInt32(seconds), let counter = UInt32(counter)
        else { return nil }
        return .timestamp(UInt64(seconds) << 32 | UInt64(counter))
    }

    private static func expression(_ pattern: JSONTree?, _ options: JSONTree?) -> BSONValue? {
        guard let pattern = pattern.flatMap(string), let options = options.flatMap(string) else {
            return nil
        }
        return .regularExpression(pattern: pattern, options: options)
    }
}
