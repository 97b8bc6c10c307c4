internal import Changesets
internal import Documents
internal import Schemas

/// The storage of one class's objects, as far as applying instructions requires.
struct ClassPlan {
    /// Nil for embedded classes, which no instruction addresses, and for asymmetric ones, whose objects
    /// leave nothing behind (instruction semantics, 3.5).
    let table: ClassTable?
    let name: Text
    let properties: [Property]
    /// Their `column`, by position: looked up for each value of each object.
    let columns: [Int]
    /// The properties whose JSON may hold links, by position.
    let linkProperties: [Int]

    struct Property {
        let schema: PropertySchema
        /// The position of its column in the table.
        let column: Int
        /// The value in a new object (instruction semantics, 1.5).
        let initial: ColumnValue
        /// Whether its links are listed in `_realm_backlink`, as those inside JSON are.
        let mayHoldLinks: Bool
        /// Nil if its values have to be converted.
        let direct: DirectColumn?
        /// Of a link in a column of its own.
        let linkTarget: LinkTarget?
    }

    init(_ schema: ClassSchema, _ catalogue: Catalogue) {
        self.name = schema.name
        let table = catalogue.position(of: schema.name).map { catalogue[$0] }
        guard let table, !schema.isAsymmetric, !schema.isEmbedded else {
            self.table = nil
            self.properties = []
            self.columns = []
            self.linkProperties = []
            return
        }
        self.table = table
        self.properties = schema.properties.map { property in
            guard let column = table.position(of: property.name) else {
                preconditionFailure("every property of a stored class has a column")
            }
            return Property(property, column: column, in: catalogue.schema)
        }
        self.columns = properties.map(\.column)
        self.linkProperties = properties.indices.filter { [properties] in
            properties[$0].mayHoldLinks
        }
    }
}

extension ClassPlan.Property {
    init(_ property: PropertySchema, column: Int, in schema: RealmSchema) {
        self.schema = property
        self.column = column
        self.initial = ColumnForm.encode(property.defaultValue, of: property, in: schema)
        self.mayHoldLinks = schema.mayHoldLinksInJSON(property)
        self.direct = DirectColumn(property, column: column, initial: initial, in: schema)
        self.linkTarget =
            switch (property.collection, schema.elementType(of: property)) {
            case (.single, .link(let target)): target
            default: nil
            }
    }
}

extension RealmSchema {
    /// Whether the property's JSON can hold links; a single link has its own column.
    func mayHoldLinksInJSON(_ property: PropertySchema) -> Bool {
        if property.collection == .single, case .link = elementType(of: property) { return false }
        var seen: Set<Text> = []
        return mayHoldLinks(property, &seen)
    }

    private func mayHoldLinks(_ property: PropertySchema, _ seen: inout Set<Text>) -> Bool {
        switch elementType(of: property) {
        case .mixed, .link: return true
        case .scalar, nil: return false
        case .embedded(let name):
            // Embedded classes may contain themselves.
            guard seen.insert(name).inserted, let owner = self[name] else { return false }
            return owner.properties.contains { mayHoldLinks($0, &seen) }
        }
    }
}
