internal import Changesets
internal import Documents
internal import Schemas

/// A column whose values can be bound as they are in a changeset: of a single scalar or link.
struct DirectColumn {
    let form: Form
    /// In the statement that inserts an object.
    let parameter: Int
    let acceptsNull: Bool
    /// Whether it is zero in a new object, and a floating point number.
    let startsAsZero: Bool

    enum Form {
        case scalar(ScalarType)
        case link
    }

    /// Nil for properties of other types.
    init?(_ property: PropertySchema, column: Int, initial: ColumnValue, in schema: RealmSchema) {
        guard property.collection == .single else { return nil }
        switch schema.elementType(of: property) {
        case .scalar(let type):
            self.form = .scalar(type)
        case .link(let target):
            // No link to an asymmetric class fits.
            guard schema[target.className]?.isAsymmetric == false else { return nil }
            self.form = .link
        case .mixed, .embedded, nil:
            return nil
        }
        self.parameter = TableStatements.Insertion.parameter(ofColumn: column)
        self.acceptsNull = property.acceptsNull
        self.startsAsZero = if case .real(0) = initial { true } else { false }
    }
}
