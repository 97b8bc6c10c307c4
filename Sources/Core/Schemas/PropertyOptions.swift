package import Changesets

/// A property and the class it belongs to, by their names.
package struct PropertyName: Hashable, Sendable {
    package let className: Text
    package let property: Text

    package init(className: Text, property: Text) {
        self.className = className
        self.property = property
    }
}

/// What can be declared about a property beyond its type: how local writes to it are meant.
///
/// Never travels with the schema.
package struct PropertyOptions: Hashable, Sendable {
    /// Changes of the number are sent as increments, which add up instead of overwriting each other.
    package var isCounter: Bool
    /// What a row gets that is inserted without the column; nil is the default of the type.
    package var defaultValue: Scalar?

    package init(isCounter: Bool = false, defaultValue: Scalar? = nil) {
        self.isCounter = isCounter
        self.defaultValue = defaultValue
    }
}
