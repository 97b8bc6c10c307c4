import Changesets
import Schemas

/// Converts a constant to the type of the other side (flexible sync, 12.4; query as recorded, 26 to
/// 30).
struct ConstantConversion {
    let schema: RealmSchema

    /// - Parameter hint: the type of the other side, nil if that is a constant as well.
    func value(
        of constant: ConstantSyntax,
        for hint: QueryType?
    ) throws(LocatedProblem) -> CheckedConstant {
        let value = try convertedValue(of: constant, for: hint)
        let type: QueryType =
            if value == .null, let hint, hint.isBytes { hint } else { QueryType(of: value) }
        return CheckedConstant(value: value, type: type, isFolded: false)
    }

    private func convertedValue(
        of constant: ConstantSyntax,
        for hint: QueryType?
    ) throws(LocatedProblem) -> QueryValue {
        switch constant.literal {
        case .argument(let number):
            throw QueryChecker.missingArgument(number, constant.offset)
        case .internalLink:
            throw LocatedProblem(
                .type,
                at: constant.offset,
                "object numbers are only valid in their own file",
                remedy: "write obj(\"Class\", key)"
            )
        case .object(let className, let key):
            return .link(try reference(className, key, constant.offset))
        case .number(let value, let text):
            guard hint != .decimal else {
                return DecimalNumber(text: text[...]).map { .decimal($0) } ?? value
            }
            return try converted(value, hint, constant.offset)
        case .value(let value):
            return try converted(value, hint, constant.offset)
        }
    }

    private func converted(
        _ value: QueryValue,
        _ hint: QueryType?,
        _ offset: Int
    ) throws(LocatedProblem) -> QueryValue {
        switch value {
        case .int(let number):
            return hint == .decimal ? .decimal(DecimalNumber(number)) : value
        case .double(let number):
            try refuseInfinity(number, hint, offset)
            switch hint {
            case .float: return .float(Float(number))
            case .decimal: return .decimal(DecimalNumber(number))
            case .int: return Int64(exactly: number).map { .int($0) } ?? value
            default: return value
            }
        case .float(let number):
            try refuseInfinity(Double(number), hint, offset)
            // With its suffix it remains a float, even beside doubles and decimals.
            return hint == .int ? Int64(exactly: number).map { .int($0) } ?? value : value
        case .string(let text):
            return try converted(text, hint, offset)
        case .null, .bool, .decimal, .binary, .date, .objectID, .uuid, .link, .kinds, .nested:
            return value
        }
    }

    private func refuseInfinity(
        _ number: Double,
        _ hint: QueryType?,
        _ offset: Int
    ) throws(LocatedProblem) {
        guard number.isInfinite, let hint else { return }
        switch hint {
        case .float, .double, .decimal, .mixed: return
        case .int, .bool, .string, .binary, .date, .objectID, .uuid, .link, .kinds, .null:
            throw LocatedProblem(
                .type,
                at: offset,
                "infinity cannot be compared with \(hint.name)",
                remedy: "write a value of type \(hint.name)"
            )
        }
    }

    private func converted(
        _ text: [UInt8],
        _ hint: QueryType?,
        _ offset: Int
    ) throws(LocatedProblem) -> QueryValue {
        let number: QueryValue? =
            switch hint {
            case .int: NumberPrefix.int(text).map { .int($0) }
            case .float: NumberPrefix.double(text).flatMap { NumberPrefix.float($0) }
            case .double: NumberPrefix.double(text).flatMap { NumberPrefix.double($0) }
            case .decimal: NumberPrefix.decimal(text).map { .decimal($0) }
            case .kinds: try .kinds(kinds(text, offset))
            default: nil
            }
        return number ?? .string(text)
    }

    private func kinds(_ text: [UInt8], _ offset: Int) throws(LocatedProblem) -> ValueKinds {
        guard let kinds = ValueKinds(name: text) else {
            throw LocatedProblem(
                .type,
                at: offset,
                "\"\(String(decoding: text.prefix(40), as: UTF8.self))\" is not the name of a type",
                remedy: "write a name such as \"int\", \"string\", \"list\" or \"dictionary\""
            )
        }
        return kinds
    }

    private func reference(
        _ className: [UInt8],
        _ key: QueryValue,
        _ offset: Int
    ) throws(LocatedProblem) -> ObjectReference {
        let name = PathResolver.withoutPrefix(Text(bytes: className))
        guard let target = schema[name] ?? schema[Text(bytes: className)] else {
            throw LocatedProblem(
                .unknownName,
                at: offset,
                "there is no class \(name)",
                remedy: "name a class of the schema"
            )
        }
        let objectKey: ObjectKey =
            switch key {
            case .int(let value): .int(value)
            case .string(let value): .string(Text(bytes: value))
            case .objectID(let value): .objectID(value)
            case .uuid(let value): .uuid(value)
            default: .null
            }
        guard target.accepts(objectKey) else {
            throw LocatedProblem(
                .type,
                at: offset,
                "objects of \(target.name) have no such primary key",
                remedy: "write a key of the class's type"
            )
        }
        return ObjectReference(className: target.name, key: objectKey)
    }
}
