import Changesets
import JSON

/// Values of a user as constants beside a property.
///
/// Unlike a constant in a query's text, a value of another type is not converted, but unusable: text
/// that a user may choose must not become a number.
enum UserConstant {
    /// Nil if the value does not have the type, or exceeds a limit.
    static func value(
        _ value: JSONValue,
        as type: QueryType,
        _ limits: FilterLimits
    ) -> QueryValue? {
        switch (value, type) {
        case (.string(let text), .string), (.string(let text), .mixed):
            let bytes = Array(text.utf8)
            return bytes.count <= limits.textSizeInBytes ? .string(bytes) : nil
        case (.string(let text), .objectID): return ObjectID(text).map { .objectID($0) }
        case (.string(let text), .uuid): return UniqueID(text).map { .uuid($0) }
        case (.bool(let value), .bool), (.bool(let value), .mixed): return .bool(value)
        case (.integer(let value), _) where type.isNumber || type == .mixed: return .int(value)
        case (.number(let value), _) where type.isNumber || type == .mixed:
            return value.isFinite ? .double(value) : nil
        default: return nil
        }
    }

    /// Nil if it is not a list, has too many elements, or one that is unusable.
    static func list(
        _ value: JSONValue,
        as type: QueryType,
        _ limits: FilterLimits
    ) -> [QueryValue]? {
        guard case .array(let elements) = value, elements.count <= limits.listElements else {
            return nil
        }
        var values: [QueryValue] = []
        for element in elements {
            guard let value = self.value(element, as: type, limits) else { return nil }
            values.append(value)
        }
        return values
    }

    /// Whether values of a user can have the type.
    static func canHave(_ type: QueryType) -> Bool {
        switch type {
        case .int, .bool, .string, .mixed, .float, .double, .decimal, .objectID, .uuid: true
        case .binary, .date, .link, .kinds, .null: false
        }
    }

    static func sample(of type: QueryType) -> QueryValue {
        switch type {
        case .bool: .bool(false)
        case .string, .mixed: .string([])
        case .objectID: .objectID(.zero)
        case .uuid: .uuid(.zero)
        case .int, .float, .double, .decimal: .int(0)
        case .binary, .date, .link, .kinds, .null: .null
        }
    }
}
