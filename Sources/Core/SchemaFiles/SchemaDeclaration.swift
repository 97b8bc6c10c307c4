package import Schemas

/// The content of a schema file: the schema, and the options of local writes to some properties.
package struct SchemaDeclaration: Hashable, Sendable {
    package var schema: RealmSchema
    /// Of the properties with any: counters, and defaults that are not null.
    package var options: [PropertyName: PropertyOptions]

    package init(schema: RealmSchema, options: [PropertyName: PropertyOptions] = [:]) {
        self.schema = schema
        self.options = options
    }
}
