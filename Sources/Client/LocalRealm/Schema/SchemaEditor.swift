internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Changes the tables of a realm within the current transaction (local realm, 7.3).
///
/// Additions may come in pieces: they are gathered and written at once, so that a new class gets
/// one CREATE TABLE with all of its columns. Erasures take effect at once.
struct SchemaEditor {
    let connection: Connection
    let options: [PropertyName: PropertyOptions]
    /// The value of `published`: 0 for what must still be sent, `CatalogueStore.learned` for what
    /// came from the server.
    let published: Int64
    var catalogue: Catalogue
    /// The schema with all gathered changes; the catalogue's own lags behind until `flush()`.
    private(set) var schema: RealmSchema
    var hasChangedTables = false
    var hasPendingAdditions = false

    init(
        _ connection: Connection,
        _ catalogue: Catalogue,
        options: [PropertyName: PropertyOptions],
        published: Int64
    ) {
        self.connection = connection
        self.options = options
        self.published = published
        self.catalogue = catalogue
        self.schema = catalogue.schema
    }

    var store: CatalogueStore { CatalogueStore(connection: connection) }
}

// MARK: Gathering

extension SchemaEditor {
    /// Applies a schema instruction from the server; false if it changed nothing.
    mutating func apply(_ instruction: Instruction, strings: StringTable) throws -> Bool {
        switch try schema.apply(instruction, strings: strings) {
        case nil:
            return false
        case .classAdded, .propertyAdded:
            hasPendingAdditions = true
        case .classErased(let erased):
            try flush()
            try erase(erased)
        case .propertyErased(let erased, let className, _):
            try flush()
            try erase(erased, of: className)
        }
        return true
    }

    /// Adds everything that the declared schema has and this one lacks.
    mutating func add(_ declared: RealmSchema) throws {
        for candidate in declared.classes {
            hasPendingAdditions =
                try schema.addClass(candidate.name, candidate.kind) != nil || hasPendingAdditions
        }
        for candidate in declared.classes {
            for property in candidate.properties {
                let change = try schema.addProperty(property, to: candidate.name)
                hasPendingAdditions = change != nil || hasPendingAdditions
            }
        }
    }
}
