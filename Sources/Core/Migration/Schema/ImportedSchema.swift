import Changesets
import SchemaFiles
import Schemas

/// The classes that an export's collections became.
struct ImportedSchema {
    var declaration = SchemaDeclaration(schema: RealmSchema())
    /// The class of each collection, by `DB.COLL`.
    var classes: [String: Text] = [:]
    /// Collections that hosted sync did not know, by `DB.COLL`.
    var withoutClass: [String] = []

    var schema: RealmSchema { declaration.schema }

    func collection(of className: Text) -> String? {
        classes.first { $0.value == className }?.key
    }
}
