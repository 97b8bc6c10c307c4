package import Changesets
package import Schemas

/// What a schema file says: the schema, and how local writes of some properties are meant.
package struct SchemaDeclaration: Hashable, Sendable {
    package var schema: RealmSchema
    /// Int properties whose changes travel as increments, so that concurrent ones add up.
    package var counters: Set<PropertyReference>
    /// What a column left out of a local INSERT gets; not null, and never of a link or collection.
    package var defaults: [PropertyReference: Scalar]

    package init(
        schema: RealmSchema,
        counters: Set<PropertyReference> = [],
        defaults: [PropertyReference: Scalar] = [:]
    ) {
        self.schema = schema
        self.counters = counters
        self.defaults = defaults
    }
}

/// A property of a class, by their names.
package struct PropertyReference: Hashable, Sendable {
    package let className: Text
    package let property: Text

    package init(className: Text, property: Text) {
        self.className = className
        self.property = property
    }
}
