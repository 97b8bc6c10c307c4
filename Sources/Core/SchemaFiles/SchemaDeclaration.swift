package import Schemas

/// What a schema file says: the schema, and how local writes of some properties are meant.
package struct SchemaDeclaration: Hashable, Sendable {
    package var schema: RealmSchema
    /// Of the properties that have any: counters, and defaults that are not null.
    package var options: [PropertyName: PropertyOptions]

    package init(schema: RealmSchema, options: [PropertyName: PropertyOptions] = [:]) {
        self.schema = schema
        self.options = options
    }
}
