package import Changesets
package import Schemas

/// The value of a property (instruction semantics, 1.4).
package enum Value: Hashable, Sendable {
    /// Null, a scalar, or a link.
    case scalar(Scalar)
    case list([Value])
    case set(ValueSet)
    case dictionary([Text: Value])
    /// An embedded object.
    case object(Document)

    package static let null = Value.scalar(.null)
}

/// The properties of one object, in the order of its class, without the primary key.
package struct Document: Hashable, Sendable {
    package var values: [Value]

    package init(values: [Value]) {
        self.values = values
    }

    /// An object with only default values.
    package init(defaultsOf schema: ClassSchema) {
        self.values = schema.properties.map(\.defaultValue)
    }

    /// The value of a property by name, or nil if the class has no such property.
    package func value(of name: Text, in schema: ClassSchema) -> Value? {
        schema.position(of: name).map { values[$0] }
    }
}

extension PropertySchema {
    /// The value of a new property on existing objects, and of an unset one on new objects
    /// (instruction semantics, 1.5).
    package var defaultValue: Value {
        switch collection {
        case .single: .scalar(defaultScalar)
        case .list: .list([])
        case .set: .set(ValueSet())
        case .dictionary: .dictionary([:])
        }
    }

    private var defaultScalar: Scalar {
        guard !acceptsNull else { return .null }
        return switch type {
        case .mixed, .link: .null
        case .int: .int(0)
        case .bool: .bool(false)
        case .string: .string(.empty)
        case .binary: .binary([])
        case .timestamp: .timestamp(.epoch)
        case .float: .float(FloatBits(0))
        case .double: .double(DoubleBits(0))
        case .decimal: .decimal(.zero)
        case .objectID: .objectID(.zero)
        case .uuid: .uuid(.zero)
        }
    }
}
