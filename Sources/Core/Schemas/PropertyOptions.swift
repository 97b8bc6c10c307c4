package import Changesets

/// A property and its class, by name.
package struct PropertyName: Hashable, Sendable {
    package let className: Text
    package let property: Text

    package init(className: Text, property: Text) {
        self.className = className
        self.property = property
    }
}

/// Declarations about a property beyond its type, for local writes.
///
/// Never sent with the schema.
package struct PropertyOptions: Hashable, Sendable {
    /// Changes of the number are sent as increments, which add up instead of overwriting each other.
    package var isCounter: Bool
    /// The value of a row inserted without the column; nil is the default of the type.
    package var defaultValue: Scalar?

    package init(isCounter: Bool = false, defaultValue: Scalar? = nil) {
        self.isCounter = isCounter
        self.defaultValue = defaultValue
    }
}
