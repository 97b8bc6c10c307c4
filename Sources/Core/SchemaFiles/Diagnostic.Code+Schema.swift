import Settings

extension Diagnostic.Code {
    /// Too long, empty, or with characters that a name cannot have.
    static let badName = Self("schema.bad_name")
    /// The text is not the type of a property.
    static let badType = Self("schema.bad_type")
    static let badPrimaryKey = Self("schema.bad_primary_key")
    /// A link names a class that is not declared.
    static let unknownClass = Self("schema.unknown_class")
    /// A link to a class of the wrong kind.
    static let badLink = Self("schema.bad_link")
    static let badDefault = Self("schema.bad_default")
    static let badCounter = Self("schema.bad_counter")
}
